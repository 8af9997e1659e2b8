/** What is sent to a terminal to move about in it and to draw over what was there, and its size where it does not say. */

/** Assumed where a terminal does not say. */
export const COLUMNS = 80;
export const ROWS = 24;

export const HIDE_CURSOR = '\x1b[?25l';
export const SHOW_CURSOR = '\x1b[?25h';
export const CLEAR_RIGHT = '\x1b[K';
export const CLEAR_BELOW = '\x1b[J';
/** Terminals that know it show what is between the two at once; others leave it aside. */
export const BEGIN_FRAME = '\x1b[?2026h';
export const END_FRAME = '\x1b[?2026l';

/**
 * The mark of the page: an output somebody still has, a coin in open hands.
 */
export const ICON = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32">
  <rect width="32" height="32" rx="8" fill="#0f766e"/>
  <path d="M8 9v7a8 8 0 0 0 16 0V9" fill="none" stroke="#fff" stroke-width="3.2" stroke-linecap="round"/>
  <circle cx="16" cy="12" r="3.4" fill="#5eead4"/>
</svg>
`;

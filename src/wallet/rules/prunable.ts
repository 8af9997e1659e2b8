/**
 * Which dead transactions may be deleted. One that replaced another explains why
 * that other is dead, so it goes only together with everything it replaced:
 * chains of replacements go whole, oldest first.
 */

/**
 * `candidates`: dead, old enough, and no live row spends their credits. `replaces`: what each id has replaced.
 * Returns the largest part of the candidates that is closed: whatever one of it replaced is in it, too.
 */
export function prunable<Id>(candidates: readonly Id[], replaces: (id: Id) => readonly Id[]): readonly Id[] {
  const going = new Set(candidates);
  for (let before = -1; before !== going.size; ) {
    before = going.size;
    for (const id of going) if (!replaces(id).every((replaced) => going.has(replaced))) going.delete(id);
  }
  return candidates.filter((id) => going.has(id));
}

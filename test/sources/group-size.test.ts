/** Groups grow to the limit where a chain begins, and shrink where it ends. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { groupBytes } from '../../src/sources/group-size.ts';
import { GROUP_BYTES_MAX, GROUP_BYTES_MIN } from '../../src/util/limits.ts';

const MIB = 1024 * 1024;

/** The sizes of the groups that a chain of so many bytes is cut into. */
function groupsOf(bytes: number): number[] {
  const groups: number[] = [];
  for (let applied = 0; applied < bytes; ) {
    let group = 0;
    while (applied + group < bytes && group < groupBytes(applied, bytes - applied - group)) group += MIB / 8;
    groups.push(group);
    applied += group;
  }
  return groups;
}

describe('groups of blocks', () => {
  it('are small at both ends of a chain, and whole in its middle', () => {
    const groups = groupsOf(40 * MIB);
    assert.equal(groups[0], GROUP_BYTES_MIN);
    assert.ok(groups.filter((group) => group === GROUP_BYTES_MAX).length >= 7, `${groups}`);
    assert.ok((groups.at(-1) ?? 0) <= GROUP_BYTES_MIN);
    assert.ok(groups.length <= 16, `${groups}`);
  });

  it('are whole up to the end where it is not known where that is', () => {
    assert.equal(groupBytes(100 * MIB, Number.POSITIVE_INFINITY), GROUP_BYTES_MAX);
  });
});

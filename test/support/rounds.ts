/** UNSPENT_TEST_ROUNDS=N makes the longer random tests N times as long. */
export const ROUNDS = Number(process.env['UNSPENT_TEST_ROUNDS'] ?? 1);

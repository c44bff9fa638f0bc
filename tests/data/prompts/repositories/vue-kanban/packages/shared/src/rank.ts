export function between(a: number, b: number): number {
  return (a + b) / 2;
}

export function needsRebalance(positions: number[]): boolean {
  for (let i = 1; i < positions.length; i++) {
    if (positions[i] - positions[i - 1] < 1e-6) return true;
  }
  return false;
}

/** The switches that break parts of the demo. The server tells which there are, in demo mode only. */
export function Breaks() {
  return null;
}

import { Component, type ReactNode } from 'react';

/** Shows an error message, not a blank page, when a screen throws. */
export class Boundary extends Component<{ children: ReactNode }, { error?: Error }> {
  override state: { error?: Error } = {};
  static getDerivedStateFromError(error: Error) {
    return { error };
  }
  override render() {
    if (!this.state.error) return this.props.children;
    return <ScreenFailed error={this.state.error} />;
  }
}

/** A screen that failed in the browser, or whose code could not be loaded. */
export function ScreenFailed({ error }: { error: unknown }) {
  return (
    <main className="region" role="alert">
      <div className="state">
        <h2>This screen could not be shown</h2>
        <p>The console failed: {error instanceof Error ? error.message : 'unknown'}. Nothing was changed on the server.</p>
        <button type="button" className="btn" onClick={() => location.reload()}>
          Load again
        </button>
      </div>
    </main>
  );
}

/** Reads the colours of tokens in the theme that is shown, for what is drawn on a canvas. */
export function colours<Name extends string>(tokens: Record<Name, string>): Record<Name, string> {
  const probe = document.body.appendChild(document.createElement('span'));
  const found = Object.fromEntries(
    Object.entries(tokens).map(([name, token]) => {
      probe.style.color = `var(${String(token)})`;
      return [name, getComputedStyle(probe).color];
    }),
  );
  probe.remove();
  return found as Record<Name, string>;
}

/** Calls run when another theme is shown. Returns a function that ends this. */
export function onThemeChange(run: () => void): () => void {
  const system = matchMedia('(prefers-color-scheme: dark)');
  const chosen = new MutationObserver(run);
  system.addEventListener('change', run);
  chosen.observe(document.documentElement, { attributeFilter: ['data-theme'] });
  return () => {
    system.removeEventListener('change', run);
    chosen.disconnect();
  };
}

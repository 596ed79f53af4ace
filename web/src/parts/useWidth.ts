import { useCallback, useState } from 'react';

/** The width of an element, kept up to date. The element may be mounted later, removed and mounted again. */
export function useWidth<T extends HTMLElement>(first: number) {
  const [width, setWidth] = useState(first);
  const ref = useCallback((element: T) => {
    const observer = new ResizeObserver(([entry]) => entry && setWidth(Math.max(200, Math.floor(entry.contentRect.width))));
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  return { ref, width };
}

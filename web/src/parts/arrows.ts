import type { KeyboardEvent } from 'react';

const directions: Record<string, [number, number]> = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

interface Place {
  x: number;
  y: number;
}

/** The index of the nearest place in the direction of an arrow key, or -1. Places straight ahead are preferred. */
export function nearestPlace(from: Place, places: Place[], key: string): number {
  const direction = directions[key];
  if (!direction) return -1;
  const [dx, dy] = direction;
  let best = -1;
  let least = Infinity;
  places.forEach((p, i) => {
    const ahead = (p.x - from.x) * dx + (p.y - from.y) * dy;
    if (ahead < 4) return; // a neighbour in the same row or column can be some pixels off
    const aside = Math.abs((p.x - from.x) * dy) + Math.abs((p.y - from.y) * dx);
    const distance = ahead + 2.5 * aside;
    if (distance < least) [least, best] = [distance, i];
  });
  return best;
}

/** Moves the focus between the links and buttons of an area, or its elements that match a selector, with the arrow keys. */
export function walkWithArrows(event: KeyboardEvent<HTMLElement>, selector = 'a[href], button:not(:disabled)'): void {
  if (!(event.key in directions) || event.altKey || event.ctrlKey || event.metaKey) return;
  const from = document.activeElement;
  if (!(from instanceof HTMLElement) || !event.currentTarget.contains(from)) return;
  const targets = [...event.currentTarget.querySelectorAll<HTMLElement>(selector)].filter((e) => e !== from && e.offsetParent !== null);
  const middle = (e: HTMLElement): Place => {
    const box = e.getBoundingClientRect();
    return { x: box.x + box.width / 2, y: box.y + box.height / 2 };
  };
  const next = targets[nearestPlace(middle(from), targets.map(middle), event.key)];
  if (!next) return;
  event.preventDefault();
  next.focus();
}

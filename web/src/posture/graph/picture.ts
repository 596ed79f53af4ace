import { colours } from '../../parts/colours';
import { middleCut } from '../../parts/text';
import { card, place } from './layout';
import { cardEdgeOf, type Graph } from './model';

const margin = 28;
const pixelRatio = 2;

/** Draws a graph as the screen shows it, and returns it as PNG. */
export function graphPicture(graph: Graph, centre: string, highlighted: Set<string>): Promise<Blob | null> {
  const places = place(graph);
  const xs = [...places.values()].map((p) => p.x);
  const ys = [...places.values()].map((p) => p.y);
  const left = Math.min(...xs) - card.width / 2 - margin;
  const top = Math.min(...ys) - card.height / 2 - margin;
  const width = Math.max(...xs) + card.width / 2 + margin - left;
  const height = Math.max(...ys) + card.height / 2 + margin - top;
  const canvas = document.createElement('canvas');
  canvas.width = width * pixelRatio;
  canvas.height = height * pixelRatio;
  const draw = canvas.getContext('2d');
  if (!draw) return Promise.resolve(null);
  const ink = colours({
    canvas: '--canvas',
    line: '--line-strong',
    edge: '--line-control',
    hot: '--sev-high-fill',
    centre: '--accent',
    soft: '--accent-soft',
    text: '--text',
    type: '--text-3',
  });
  const family = getComputedStyle(document.body).fontFamily;
  draw.scale(pixelRatio, pixelRatio);
  draw.fillStyle = ink.canvas;
  draw.fillRect(0, 0, width, height);
  for (const e of graph.edges) {
    const from = places.get(e.from);
    const to = places.get(e.to);
    if (!from || !to) continue;
    const direction = to.x < from.x ? -1 : 1;
    const x1 = from.x - left + direction * (card.width / 2);
    const x2 = to.x - left - direction * (card.width / 2);
    const bend = Math.max(16, Math.abs(x2 - x1) / 2) * direction;
    draw.strokeStyle = highlighted.has(e.from) && highlighted.has(e.to) ? ink.hot : ink.edge;
    draw.lineWidth = 1.25;
    draw.beginPath();
    draw.moveTo(x1, from.y - top);
    draw.bezierCurveTo(x1 + bend, from.y - top, x2 - bend, to.y - top, x2, to.y - top);
    draw.moveTo(x2 - 5 * direction, to.y - top - 4);
    draw.lineTo(x2, to.y - top);
    draw.lineTo(x2 - 5 * direction, to.y - top + 4);
    draw.stroke();
  }
  for (const node of graph.nodes.values()) {
    const p = places.get(node.id);
    if (!p) continue;
    const x = p.x - left - card.width / 2;
    const y = p.y - top - card.height / 2;
    draw.fillStyle = node.id === centre ? ink.soft : ink.canvas;
    draw.strokeStyle = node.id === centre ? ink.centre : highlighted.has(node.id) ? ink.hot : ink.line;
    draw.beginPath();
    draw.roundRect(x, y, card.width, card.height, 6);
    draw.fill();
    draw.stroke();
    draw.fillStyle = ink.text;
    draw.font = `500 12px ${family}`;
    draw.fillText(middleCut(node.name, 22), x + 10, y + 17, card.width - 20);
    draw.fillStyle = ink.type;
    draw.font = `11px ${family}`;
    draw.fillText(node.type, x + 10, y + 31, card.width - 20);
    const edge = cardEdgeOf(graph, node.id, centre);
    if (edge) draw.fillText(edge.label, x + 2, y - 4, card.width);
  }
  return new Promise((done) => canvas.toBlob(done, 'image/png'));
}

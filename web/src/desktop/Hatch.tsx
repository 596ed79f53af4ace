/** The SVG pattern that the style sheets fill disabled tiles with. */
export const Hatch = () => (
  <svg width="0" height="0" className="hatch-source" aria-hidden="true">
    <defs>
      <pattern id="hatch-off" width="4" height="4" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">
        <rect width="4" height="4" className="hatch-ground" />
        <rect width="1.4" height="4" className="hatch-line" />
      </pattern>
    </defs>
  </svg>
);

const browsers: [RegExp, string][] = [
  [/\bEdg(?:A|iOS)?\/(\d+)/, 'Edge'],
  [/\bOPR\/(\d+)/, 'Opera'],
  [/\b(?:Firefox|FxiOS)\/(\d+)/, 'Firefox'],
  [/\b(?:(?:Headless)?Chrome|CriOS)\/(\d+)/, 'Chrome'],
  [/\bVersion\/(\d+).*\bSafari\//, 'Safari'],
];
const systems: [RegExp, string][] = [
  [/\bAndroid\b/, 'Android'],
  [/\b(iPhone|iPad)\b/, 'iOS'],
  [/\bWindows\b/, 'Windows'],
  [/\bMac OS X\b/, 'macOS'],
  [/\bLinux\b/, 'Linux'],
];

/** The browser and the system that a user agent names: "Firefox 140 on Windows". Anything else stays as it is. */
export function browserName(agent: string): string {
  for (const [pattern, name] of browsers) {
    const version = pattern.exec(agent)?.[1];
    if (!version) continue;
    const system = systems.find(([p]) => p.test(agent))?.[1];
    return `${name} ${version}${system ? ` on ${system}` : ''}`;
  }
  return agent;
}

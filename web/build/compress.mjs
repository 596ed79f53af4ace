// Compresses every text file of the build that has at least 1 KiB: x.js gets x.js.br and x.js.gz
// beside it. Fails if the first load is above its budget.
import { readFileSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';

const folder = 'dist/app';
const budget = 170 * 1024; // bytes after gzip

function files(dir) {
  return readdirSync(dir).flatMap((name) => {
    const path = join(dir, name);
    return statSync(path).isDirectory() ? files(path) : [path];
  });
}

for (const path of files(folder)) {
  if (!/\.(js|css|html|svg|json)$/.test(path)) continue;
  const text = readFileSync(path);
  if (text.length < 1024) continue;
  writeFileSync(path + '.br', brotliCompressSync(text, { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } }));
  writeFileSync(path + '.gz', gzipSync(text, { level: 9 }));
}

// The first load is the scripts that index.html names, and all modules that they import statically, directly or not.
const scriptOfPage = /(?:src|href)="\/console\/(assets\/[^"]+\.js)"/g;
const staticImport = /(?:from|import)\s*["']\.\/([^"']+\.js)["']/g;
const seen = new Set();
function load(path) {
  if (seen.has(path)) return;
  seen.add(path);
  const text = readFileSync(path, 'utf8');
  for (const [, name] of text.matchAll(staticImport)) load(join(folder, 'assets', name));
}
const page = readFileSync(join(folder, 'index.html'), 'utf8');
for (const [, name] of page.matchAll(scriptOfPage)) load(join(folder, name));
const size = [...seen].reduce((sum, path) => sum + gzipSync(readFileSync(path), { level: 9 }).length, 0);
console.log(`first load: ${(size / 1024).toFixed(1)} KiB of JavaScript, gzip, of ${budget / 1024}`);
if (size > budget) {
  console.error('the first load is above its budget');
  process.exit(1);
}

import { expect, test } from 'vitest';
import { browserName } from './browser';

test('user agents are read', () => {
  const webkit = 'AppleWebKit/537.36 (KHTML, like Gecko)';
  expect(browserName(`Mozilla/5.0 (X11; Linux x86_64) ${webkit} Chrome/140.0.0.0 Safari/537.36`)).toBe('Chrome 140 on Linux');
  expect(browserName(`Mozilla/5.0 (Windows NT 10.0; Win64; x64) ${webkit} Chrome/140.0.0.0 Safari/537.36 Edg/140.0.1`)).toBe(
    'Edge 140 on Windows',
  );
  expect(browserName('Mozilla/5.0 (Macintosh; Intel Mac OS X 14.5; rv:128.0) Gecko/20100101 Firefox/128.0')).toBe('Firefox 128 on macOS');
  expect(
    browserName('Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 Version/17.5 Mobile/15E148 Safari/604.1'),
  ).toBe('Safari 17 on iOS');
  expect(browserName(`Mozilla/5.0 (X11; Linux x86_64) ${webkit} HeadlessChrome/140.0.0.0 Safari/537.36`)).toBe('Chrome 140 on Linux');
  const ios = 'Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko)';
  expect(browserName(`${ios} CriOS/126.0.6478.54 Mobile/15E148 Safari/604.1`)).toBe('Chrome 126 on iOS');
  expect(browserName(`${ios} FxiOS/127.0 Mobile/15E148 Safari/605.1.15`)).toBe('Firefox 127 on iOS');
  expect(browserName(`${ios} Version/17.0 EdgiOS/125.0.2535.60 Mobile/15E148 Safari/604.1`)).toBe('Edge 125 on iOS');
  expect(browserName(`Mozilla/5.0 (Linux; Android 10; K) ${webkit} Chrome/125.0.0.0 Mobile Safari/537.36 EdgA/125.0.0.0`)).toBe(
    'Edge 125 on Android',
  );
  expect(browserName('curl/8.5.0')).toBe('curl/8.5.0');
  expect(browserName('')).toBe('');
});

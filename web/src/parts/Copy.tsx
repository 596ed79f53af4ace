import { Button } from './Button';
import { showToast } from './toast';

/** Writes to the clipboard, and says so. Pages without the permission fall back to a selection, which browsers may refuse to copy too. */
export async function copyText(text: string, what = 'Copied'): Promise<void> {
  let copied = true;
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    const area = document.createElement('textarea');
    area.value = text;
    document.body.append(area);
    area.select();
    copied = document.execCommand('copy');
    area.remove();
  }
  showToast(copied ? what : 'The browser does not permit copying');
}

export const CopyButton = ({ text, label }: { text: string; label: string }) => (
  <Button
    look="quiet"
    icon="copy"
    className="xs"
    aria-label={label}
    title={label}
    onClick={() =>
      void copyText(
        text,
        `${label.replace(/^Copy /, '')} copied`.replace(/^./, (c) => c.toUpperCase()),
      )
    }
  />
);

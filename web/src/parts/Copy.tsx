import { Button } from './Button';
import { showToast } from './toast';

/** Writes to the clipboard; pages without the permission fall back to a selection. */
export async function copyText(text: string, what = 'Copied'): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    const area = document.createElement('textarea');
    area.value = text;
    document.body.append(area);
    area.select();
    document.execCommand('copy');
    area.remove();
  }
  showToast(what);
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

import { createContext, useContext } from 'react';

/** What the frame does for screens. */
export interface FrameActions {
  menuOpen: boolean;
  toggleMenu: () => void;
  openJump: () => void;
  openHelp: () => void;
  nextTheme: () => void;
  server: 'posture' | 'desktop';
}

export const FrameContext = createContext<FrameActions | undefined>(undefined);

export function useFrame(): FrameActions {
  const frame = useContext(FrameContext);
  if (!frame) throw new Error('useFrame outside of the frame');
  return frame;
}

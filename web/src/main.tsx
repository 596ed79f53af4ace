import './styles/tokens.css';
import './styles/base.css';
import './styles/frame.css';
import './styles/controls.css';
import './styles/content.css';
import { createRoot } from 'react-dom/client';
import { App } from './App';
import { applyTheme, theme } from './frame/theme';

applyTheme(theme());
const root = document.getElementById('app');
if (root) createRoot(root).render(<App />);

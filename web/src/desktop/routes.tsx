import { Frame } from '../frame/Frame';
import { routerOf } from '../frame/router';

const DesktopFrame = () => <Frame server="desktop" useMenu={() => []} letters={{}} find={async () => []} />;

export const makeRouter = () => routerOf(DesktopFrame, '/health', {});

declare module 'cytoscape-dagre';

/** Every screen, by address. Checked with axe and photographed. */
export const postureScreens = [
  '/overview', '/findings', '/findings?group=rule', '/inventory', '/explore', '/activity', '/rules', '/rules/new', '/rules/aws-ec2-metadata-theft',
  '/compliance', '/accounts', '/accounts/link', '/accounts/link/aws/access', '/accounts/link/azure/access?way=hand', '/admin/users', '/admin/tokens', '/admin/audit',
];
export const desktopScreens = [
  '/health', '/rds-servers', '/rds-servers?view=table', '/gateways', '/connection-servers', '/domains', '/farms', '/virtual-centers', '/pods', '/saml', '/true-sso', '/composers',
  '/event-database', '/domain-accounts', '/history', '/alerts', '/alert-rules/new', '/machines', '/admin',
];

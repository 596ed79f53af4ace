/** Every screen, by address. Checked with axe, shown failing answers, and photographed. */
export const postureScreens = [
  '/overview', '/findings', '/findings?group=rule', '/inventory', '/explore', '/explore?lang=search', '/activity', '/rules', '/rules/new', '/rules/aws-ec2-metadata-theft', '/rules/aws-ec2-metadata-theft/unknown', '/mute-rules',
  '/compliance', '/accounts', '/accounts/link', '/accounts/link/aws/access', '/accounts/link/azure/access?way=hand', '/accounts/link/gcp/access?way=organisation',
  '/notifications', '/notifications/rules', '/notifications/deliveries', '/admin/users', '/admin/tokens', '/admin/sessions', '/admin/audit',
];
export const desktopScreens = [
  '/health', '/rds-servers', '/rds-servers?view=table', '/rds-servers?group=version', '/gateways', '/connection-servers', '/domains', '/farms', '/virtual-centers', '/pods', '/saml', '/true-sso', '/composers',
  '/event-database', '/domain-accounts', '/history', '/alerts', '/alert-rules/new', '/machines', '/admin/keys', '/admin/sessions', '/admin/audit',
];

/** Queries to begin a rule with: one for each way in which rules look at resources. */
export const examples: { label: string; query: string }[] = [
  {
    label: 'One property has a value, and another does not',
    query: "g.V().hasLabel('AWS.EC2.Instance')\n  .has('metadataHttpEndpoint', 'enabled')\n  .not(has('metadataHttpTokens', 'required'))",
  },
  { label: 'A tag is missing', query: "g.V().hasLabel('AWS.S3.Bucket').hasNot('tag.Owner')" },
  {
    label: 'A connected resource has a property',
    query: "g.V().hasLabel('AWS.EC2.Instance')\n  .where(out('HAS_PROFILE').out('HAS_ROLE').has('isAdmin', true))",
  },
  {
    label: 'Nothing is connected to the resource',
    query: "g.V().hasLabel('AWS.EC2.SecurityGroup').not(__.in('MEMBER_OF'))",
  },
  {
    label: 'The internet reaches the resource',
    query:
      "g.V().hasLabel('AWS.EC2.Instance').has('publicIpAddress')\n  .where(out('MEMBER_OF').out('ALLOWS_INGRESS').has('isInternet', true))",
  },
];

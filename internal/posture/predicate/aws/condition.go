package aws

import (
	"slices"
	"strings"

	"vigil/internal/posture/predicate"
	"vigil/internal/posture/predicate/ipset"
)

// A test is the parsed operator of a condition.
type test struct {
	kind     testKind
	negated  bool
	ifExists bool
	forAll   bool // ForAllValues: also true when the key is missing
	forAny   bool // ForAnyValue: never true when the key is missing
}

type testKind uint8

const (
	unknownTest testKind = iota
	exactTest            // wildcards in its values are literal
	likeTest
	addressTest
	boolTest
	nullTest
	otherTest // numbers, dates, bytes: they do not distinguish callers
)

var operators = map[string]test{
	"stringequals": {kind: exactTest}, "stringnotequals": {kind: exactTest, negated: true},
	"stringequalsignorecase": {kind: exactTest}, "stringnotequalsignorecase": {kind: exactTest, negated: true},
	"stringlike": {kind: likeTest}, "stringnotlike": {kind: likeTest, negated: true},
	"arnequals": {kind: likeTest}, "arnlike": {kind: likeTest}, "arnnotequals": {kind: likeTest, negated: true}, "arnnotlike": {kind: likeTest, negated: true},
	"ipaddress": {kind: addressTest}, "notipaddress": {kind: addressTest, negated: true},
	"bool": {kind: boolTest}, "null": {kind: nullTest}, "binaryequals": {kind: otherTest},
	"numericequals": {kind: otherTest}, "numericnotequals": {kind: otherTest, negated: true}, "numericlessthan": {kind: otherTest}, "numericlessthanequals": {kind: otherTest},
	"numericgreaterthan": {kind: otherTest}, "numericgreaterthanequals": {kind: otherTest},
	"dateequals": {kind: otherTest}, "datenotequals": {kind: otherTest, negated: true}, "datelessthan": {kind: otherTest}, "datelessthanequals": {kind: otherTest},
	"dategreaterthan": {kind: otherTest}, "dategreaterthanequals": {kind: otherTest},
}

// test parses the operator.
func (c Condition) test() test {
	name := strings.ToLower(c.Operator)
	name, forAll := strings.CutPrefix(name, "forallvalues:")
	name, forAny := strings.CutPrefix(name, "foranyvalue:")
	name, ifExists := strings.CutSuffix(name, "ifexists")
	t := operators[name]
	t.ifExists, t.forAll, t.forAny = ifExists, forAll, forAny
	return t
}

// isMetWithoutKey reports whether a request without the key meets the condition.
func (t test) isMetWithoutKey() bool { return t.negated && !t.forAny || t.ifExists || t.forAll }

// A keyKind classifies condition keys by what their values say about the caller. The owner of a
// policy can use some kinds to distinguish its own callers from strangers.
type keyKind uint8

const (
	freeKey     keyKind = iota // callers choose its value, or may have it by chance
	accountKey                 // an account id
	orgKey                     // an organisation id, or a path that begins with one
	arnKey                     // an ARN, which contains an account id
	idKey                      // the id of a VPC or endpoint
	providerKey                // the identity provider of a federated session
	userIDKey                  // the unique id of an identity
	addressKey
	serviceKey  // the name of an AWS service
	flagKey     // true for services of AWS, or for callers in a network of the owner
	endpointKey // the target of notifications
)

// keyKinds are the condition keys whose values strangers cannot choose. Every
// other key is free: a stranger may have a user of that name or a tag of that
// value, or may know the external id, which AWS does not treat as a secret.
var keyKinds = map[string]keyKind{
	"aws:sourceaccount": accountKey, "aws:sourceowner": accountKey, "aws:principalaccount": accountKey, "kms:calleraccount": accountKey,
	"s3:dataaccesspointaccount": accountKey, "aws:vpceaccount": accountKey,
	"aws:sourceorgid": orgKey, "aws:sourceorgpaths": orgKey, "aws:principalorgid": orgKey, "aws:principalorgpaths": orgKey,
	"aws:vpceorgid": orgKey, "aws:vpceorgpaths": orgKey,
	"aws:sourcearn": arnKey, "aws:principalarn": arnKey, "s3:dataaccesspointarn": arnKey, "lambda:sourcefunctionarn": arnKey, "aws:federatedprovider": providerKey,
	"elasticfilesystem:accesspointarn": arnKey, "elasticfilesystem:accessedviamounttarget": flagKey,
	"aws:sourcevpc": idKey, "aws:sourcevpce": idKey, "aws:ec2instancesourcevpc": idKey, "aws:userid": userIDKey, "aws:sourceip": addressKey,
	"aws:principalservicename": serviceKey, "aws:principalservicenameslist": serviceKey, "aws:principalisawsservice": flagKey,
	"sns:endpoint": endpointKey,
}

// alwaysPresent are the keys that every request has. IfExists has no effect on them.
var alwaysPresent = []string{"kms:calleraccount"}

// admits decides whether a stranger can meet a condition.
func (c Condition) admits() predicate.Answer {
	t := c.test()
	switch t.kind {
	case unknownTest:
		return predicate.NotKnown("the condition operator " + c.Operator + " is not supported")
	case nullTest: // it tests only whether a request has the key
		return predicate.Of(true, "")
	}
	kind := keyKinds[c.Key]
	switch {
	case len(c.Values) == 0: // no value of the key can match
		return predicate.Of(t.negated || t.forAll || t.ifExists, "")
	case kind == freeKey:
		return predicate.Of(true, "")
	case t.kind == otherTest:
		return predicate.NotKnown(c.Key + " is compared with " + c.Operator)
	case kind == serviceKey:
		return predicate.Of(t.isMetWithoutKey(), "") // strangers lack the key
	case kind == flagKey:
		return predicate.Of(!c.demandsFlag(t), "")
	case !t.negated && t.isMetWithoutKey() && !slices.Contains(alwaysPresent, c.Key):
		return predicate.Of(true, "") // strangers can omit the key
	case kind == addressKey:
		return c.admitsAddress(t)
	case t.negated:
		return predicate.Of(true, "") // strangers differ from the named values
	}
	var all []predicate.Answer
	for _, value := range c.Values {
		all = append(all, predicate.Not(fixes(kind, value, t.kind == likeTest)))
	}
	return predicate.Or(all...)
}

// demandsFlag reports whether only callers for whom a flag is true can meet a condition on it.
// For strangers with credentials it is "false"; requests of anonymous callers lack it.
func (c Condition) demandsFlag(t test) bool {
	if t.isMetWithoutKey() {
		return false
	}
	if t.negated { // ForAnyValue, which needs the key
		return slices.ContainsFunc(c.Values, func(v string) bool { return strings.EqualFold(v, "false") })
	}
	// All values are "true".
	return !slices.ContainsFunc(c.Values, func(v string) bool { return !strings.EqualFold(v, "true") })
}

// admitsAddress is admits for aws:SourceIp.
func (c Condition) admitsAddress(t test) predicate.Answer {
	if t.kind != addressTest {
		return predicate.NotKnown("addresses are compared with " + c.Operator)
	}
	set, err := c.addresses()
	if err != nil {
		return predicate.NotKnown(err.Error())
	}
	if t.negated {
		set = ipset.Must("0.0.0.0/0", "::/0").Difference(set)
	}
	return predicate.Of(set.IsInternet(), "")
}

func (c Condition) addresses() (all ipset.Set, err error) {
	for _, value := range c.Values {
		addresses, err := ipset.Parse(value)
		if err != nil {
			return all, err
		}
		all = all.Union(addresses)
	}
	return all, nil
}

// refuses decides whether every stranger always meets a condition of a Deny.
func (c Condition) refuses() predicate.Answer {
	t := c.test()
	kind := keyKinds[c.Key]
	switch {
	case t.kind == unknownTest:
		return predicate.NotKnown("the condition operator " + c.Operator + " is not supported")
	case kind == flagKey:
		return predicate.Of(c.matchesWithoutFlag(t), "")
	case !t.negated || t.forAny || kind == freeKey || kind == endpointKey:
		return predicate.Of(false, "") // strangers can omit the key or choose its value
	case kind == serviceKey:
		return predicate.Of(true, "")
	case kind == addressKey:
		t.negated = false // the Deny applies to every address that the opposite condition does not admit
		return predicate.Not(c.admitsAddress(t))
	}
	var all []predicate.Answer
	for _, value := range c.Values {
		all = append(all, fixes(kind, value, t.kind == likeTest))
	}
	return predicate.And(all...)
}

// matchesWithoutFlag reports whether every caller for whom a flag is not true meets
// a condition on it. aws:PrincipalIsAWSService is "false" for callers with
// credentials; requests of anonymous callers lack it.
func (c Condition) matchesWithoutFlag(t test) bool {
	if t.kind != boolTest && t.kind != exactTest {
		return false
	}
	named := func(value string) bool {
		return slices.ContainsFunc(c.Values, func(v string) bool { return strings.EqualFold(v, value) })
	}
	if t.negated {
		return !named("false") && !t.forAny
	}
	return named("false") && (t.ifExists || t.forAll)
}

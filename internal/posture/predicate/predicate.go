// Package predicate holds what rules ask of policies, firewalls and role
// bindings: is it public, may it do everything, can the internet reach a port,
// does everybody sign in with a second factor, is it privileged.
//
// Each cloud has a package of its own below this one. Its predicates are pure
// functions of what the cloud answered: they make no calls and keep nothing. Each
// is defined in words in docs/predicates.md, and has a corpus in the testdata
// folder of its package which package predicatetest runs.
//
// A predicate has three answers. What could not be read or is not understood
// makes the answer unknown unless the rest decides it whatever the missing part
// says. Unknown never becomes No by accident: the zero Answer is Unknown.
package predicate

// A Truth is yes, no, or unknown.
type Truth uint8

// The truths. Unknown is the zero value, so that an answer nobody gave is not
// taken for No.
const (
	Unknown Truth = iota
	No
	Yes
)

// String returns the truth as corpora write it.
func (t Truth) String() string {
	switch t {
	case Yes:
		return "yes"
	case No:
		return "no"
	}
	return "unknown"
}

// An Answer is what a predicate says, and the reason in words fit for a person:
// what makes it so, or what could not be decided.
type Answer struct {
	Truth Truth
	Why   string
}

// Of turns what is known for certain into an answer.
func Of(yes bool, why string) Answer {
	if yes {
		return Answer{Yes, why}
	}
	return Answer{No, ""}
}

// NotKnown is the answer that cannot be given, with the reason.
func NotKnown(why string) Answer { return Answer{Unknown, why} }

// Or is Yes when one answer is, and No when all are.
func Or(all ...Answer) Answer {
	out := Answer{Truth: No}
	for _, a := range all {
		switch {
		case a.Truth == Yes:
			return a
		case a.Truth == Unknown && out.Truth == No:
			out = a
		}
	}
	return out
}

// And is No when one answer is, and Yes when all are.
func And(all ...Answer) Answer {
	out := Answer{Truth: Yes}
	for _, a := range all {
		switch {
		case a.Truth == No:
			return a
		case a.Truth == Unknown && out.Truth == Yes:
			out = a
		case out.Truth == Yes && out.Why == "":
			out.Why = a.Why
		}
	}
	return out
}

// Not turns yes into no.
func Not(a Answer) Answer {
	switch a.Truth {
	case Yes:
		return Answer{No, a.Why}
	case No:
		return Answer{Yes, a.Why}
	}
	return a
}

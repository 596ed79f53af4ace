// Package predicate defines the predicates that rules use on policies, firewalls
// and role bindings: whether something is public, may do everything, is
// reachable from the internet, requires a second factor of everybody, or is
// privileged.
//
// Each cloud has a package below this one. Its predicates are pure functions of
// responses of the cloud. Each is defined in words in docs/predicates.md and has
// a corpus in the testdata folder of its package, which package predicatetest
// runs.
//
// A predicate has three answers. Input that could not be read or is not
// supported makes the answer unknown, unless the rest of the input decides it in
// any case. Unknown never becomes No by accident: the zero Answer is Unknown.
package predicate

// A Truth is yes, no, or unknown.
type Truth uint8

// The truths. Unknown is the zero value, so that a missing answer does not count as No.
const (
	Unknown Truth = iota
	No
	Yes
)

// String returns the truth as in corpora.
func (t Truth) String() string {
	switch t {
	case Yes:
		return "yes"
	case No:
		return "no"
	}
	return "unknown"
}

// An Answer is the result of a predicate and the reason for users: what decided
// it, or what could not be decided.
type Answer struct {
	Truth Truth
	Why   string
}

// Of returns Yes with the reason, or No without one.
func Of(yes bool, reason string) Answer {
	if yes {
		return Answer{Yes, reason}
	}
	return Answer{No, ""}
}

// NotKnown returns Unknown with a reason.
func NotKnown(reason string) Answer { return Answer{Unknown, reason} }

// Or is three-valued: Yes when one answer is Yes, No when all are No, otherwise Unknown.
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

// And is three-valued: No when one answer is No, Yes when all are Yes, otherwise Unknown.
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

// Not swaps Yes and No.
func Not(a Answer) Answer {
	switch a.Truth {
	case Yes:
		return Answer{No, a.Why}
	case No:
		return Answer{Yes, a.Why}
	}
	return a
}

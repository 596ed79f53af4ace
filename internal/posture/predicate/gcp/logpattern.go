package gcp

import (
	"regexp/syntax"
	"slices"
)

// matchesAnyText reports whether a regular expression certainly matches somewhere in every text:
// whether it matches the empty text at the beginning, or at the end. It reports false for some
// expressions that match every text, such as (?s)^.*$.
func matchesAnyText(pattern string) bool {
	re, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return false
	}
	return matchesEmptyAt(re, syntax.OpBeginText) || matchesEmptyAt(re, syntax.OpEndText)
}

// matchesEmptyAt reports whether an expression matches the empty text at the beginning of every
// text (OpBeginText) or at the end (OpEndText).
func matchesEmptyAt(re *syntax.Regexp, place syntax.Op) bool {
	matches := func(sub *syntax.Regexp) bool { return matchesEmptyAt(sub, place) }
	switch re.Op {
	case syntax.OpEmptyMatch, syntax.OpStar, syntax.OpQuest:
		return true
	case syntax.OpRepeat:
		return re.Min == 0 || matches(re.Sub[0])
	case syntax.OpCapture, syntax.OpPlus:
		return matches(re.Sub[0])
	case syntax.OpAlternate:
		return slices.ContainsFunc(re.Sub, matches)
	case syntax.OpConcat:
		return !slices.ContainsFunc(re.Sub, func(sub *syntax.Regexp) bool { return !matches(sub) })
	}
	return re.Op == place
}

package derive

import (
	"errors"

	"vigil/internal/posture"
	"vigil/internal/posture/predicate"
	"vigil/internal/posture/resource"
)

// putAnswer adds the result of a predicate as a bool property. An undecided result is
// unknown, with the reason of the predicate.
func putAnswer(b *resource.Builder, property string, answer predicate.Answer) {
	putAnswerOrRefusal(b, property, answer, nil)
}

// putAnswerOrRefusal is putAnswer for a predicate that may have lacked the response of a
// call: if its result is undecided, the reason is the error of that call, if any.
func putAnswerOrRefusal(b *resource.Builder, property string, answer predicate.Answer, refused error) {
	switch {
	case answer.Truth != predicate.Unknown:
		b.Flag(property, answer.Truth == predicate.Yes)
	case refused != nil:
		b.Unread(refused, property)
	case !b.IsUnread(property):
		b.Properties = append(b.Properties, posture.Unknown(property, answer.Why))
	}
}

// putNames adds the names of the elements for which a predicate is true as a list. The list is
// unknown if the predicate is undecided for one of them.
func putNames[T any](b *resource.Builder, property string, all []T, ask func(T) (name string, answer predicate.Answer)) {
	var names []string
	for _, element := range all {
		switch name, answer := ask(element); answer.Truth {
		case predicate.Yes:
			names = append(names, name)
		case predicate.Unknown:
			b.Unread(errors.New(answer.Why), property)
			return
		}
	}
	b.Set(property, names)
}

// answersFor returns the answers of a predicate for several values.
func answersFor[T any](all []T, ask func(T) predicate.Answer) (answers []predicate.Answer) {
	for _, value := range all {
		answers = append(answers, ask(value))
	}
	return answers
}

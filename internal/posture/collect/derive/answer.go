package derive

import (
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

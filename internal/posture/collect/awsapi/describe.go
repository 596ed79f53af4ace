package awsapi

import "vigil/internal/posture/collect/awsapi/model"

// Services returns the names of all services that can be called, as the command
// line of AWS spells them.
func Services() []string { return model.Services() }

// Operations returns the names of a service's read operations in order.
func Operations(service string) []string { return model.Operations(service) }

// Describe returns what an operation takes and returns, and how it is paged. It
// fails with [model.ErrUnknown] where there is none of that name.
func Describe(service, operation string) (*model.Operation, error) {
	return model.Find(service, operation)
}

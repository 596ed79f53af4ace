package awsapi

import "vigil/internal/posture/collect/awsapi/model"

// Services returns the names of all services that can be called, as the AWS command
// line spells them.
func Services() []string { return model.Services() }

// Operations returns the sorted names of a service's read operations.
func Operations(service string) []string { return model.Operations(service) }

// Describe returns the input, output and pagination of an operation. It fails with
// [model.ErrUnknown] when there is no such operation.
func Describe(service, operation string) (*model.Operation, error) {
	return model.Find(service, operation)
}

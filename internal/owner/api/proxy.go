package api

import "context"

//go:generate go test . -run TestGeneratedMethods -update

// Proxy is an owner that passes every method to one function. The arguments follow the context;
// each result is a pointer.
type Proxy struct {
	Invoke func(ctx context.Context, method string, arguments []any, results ...any) error
}

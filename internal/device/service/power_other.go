//go:build !linux && !darwin

package service

import "context"

// ReadPower knows nothing here: nothing waits.
func ReadPower(context.Context) Power { return Power{} }

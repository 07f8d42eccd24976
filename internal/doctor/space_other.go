//go:build !linux && !darwin && !freebsd

package doctor

import "errors"

func freeSpace(string) (bytes uint64, err error) { return 0, errors.ErrUnsupported }

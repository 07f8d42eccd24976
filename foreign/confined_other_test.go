//go:build !linux

package foreign_test

import "errors"

func playLimits([]string) error { return errors.New("only Linux has limits") }

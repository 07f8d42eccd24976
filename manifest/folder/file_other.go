//go:build !unix

package folder

// noFollow is empty where the system has no such flags.
const noFollow = 0

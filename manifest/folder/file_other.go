//go:build !unix

package folder

// noFollowFlags is empty where the system has no such flags.
const noFollowFlags = 0

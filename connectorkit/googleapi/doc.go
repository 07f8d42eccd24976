// Package googleapi is what the APIs of Google have in common: how they refuse.
package googleapi

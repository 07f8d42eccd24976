package strava_test

import (
	"testing"

	"github.com/pdpp-go/pdpp/connectorkit/connectortest"
	"github.com/pdpp-go/pdpp/providersim/strava"
)

func TestDrift(t *testing.T) {
	t.Parallel()
	connectortest.DetectDrift(t, target(t, strava.Config{Seed: 5, Activities: 26, MaxPage: 4, Ghosts: 9, Quarter: 1 << 20,
		Day: 1 << 20}))
}

func TestDriftPages(t *testing.T) {
	t.Parallel()
	connectortest.DetectDriftPages(t, target(t, strava.Config{Seed: 5, Activities: 34, Quarter: 1 << 20, Day: 1 << 20}),
		"athlete/activities", 30)
}

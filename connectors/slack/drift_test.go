package slack_test

import (
	"testing"

	"pdpp/connectorkit/connectortest"
	"pdpp/providersim/slack"
)

func TestDrift(t *testing.T) {
	t.Parallel()
	connectortest.Drift(t, target(t, slack.Config{Seed: 5, Channels: 6, Users: 7, Files: 7, Messages: 44, MaxPage: 11}))
}

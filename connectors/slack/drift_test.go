package slack_test

import (
	"testing"

	"github.com/pdpp-go/pdpp/connectorkit/connectortest"
	"github.com/pdpp-go/pdpp/providersim/slack"
)

func TestDrift(t *testing.T) {
	t.Parallel()
	connectortest.DetectDrift(t,
		target(t, slack.Config{Seed: 5, Channels: 6, Users: 7, Files: 7, Messages: 44, MaxPage: 11}))
}

func TestDriftNumbers(t *testing.T) {
	t.Parallel()
	cfg := slack.Config{Seed: 5, Channels: 6, Users: 7, Files: 7, Messages: 44, MaxPage: 11}
	at := target(t, cfg)
	connectortest.DriftNumbers(t, at, slack.StreamMessages, "api/conversations.replies", "messages/[]/reply_count")
	connectortest.DriftNumbers(t, at, slack.StreamMemberships, "api/conversations.list", "channels/[]/num_members")
	connectortest.DriftNumbers(t, at, slack.StreamFiles, "api/files.list", "paging/total")
}

func TestDriftPages(t *testing.T) {
	t.Parallel()
	connectortest.DetectDriftPages(t, target(t, slack.Config{Seed: 5, Channels: 3, Users: 14, Files: 2, Messages: 12}),
		"api/users.list", 10)
}

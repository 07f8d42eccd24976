// Package chatgpt collects a person's ChatGPT conversations with every branch of their
// messages, memories, own GPTs, instructions and shares. There is no public API for that:
// it asks the site as its own page does, in a browser where the owner signed in, or it reads
// the export that the site sends on request.
//
//	manifest.json    what it declares: streams, schemas, variables, setup
//	chatgpt.go       open: which road, with which lists and details
//	conversation.go  one conversation as site and export spell it, and its times
//	content.go       the words of a message, whatever kind of content it has
//	map.go           how one thing of ChatGPT's becomes one record
//	share.go         shares, as site and export have them
//	export.go        the export: zip or folder, both layouts, by streaming
package chatgpt

import (
	"context"
	_ "embed"

	"pdpp/connectorkit"
	"pdpp/protocol"
)

//go:embed manifest.json
var manifestJSON []byte

// Connector is the ChatGPT connector.
func Connector() connectorkit.Connector {
	return connectorkit.MustNew(manifestJSON, open)
}

const (
	streamConversations = "conversations"
	streamMessages      = "messages"
	streamMemories      = "memories"
	streamGPTs          = "custom_gpts"
	streamInstructions  = "custom_instructions"
	streamShares        = "shared_conversations"
)

// open chooses the road: the export by itself where there is no browser.
func open(ctx context.Context, s *connectorkit.Setup) ([]connectorkit.Collector, error) {
	path := s.Env("PDPP_CHATGPT_EXPORT_PATH")
	if path == "" {
		return nil, connectorkit.End("chatgpt_session_required",
			"sign in to ChatGPT, or set PDPP_CHATGPT_EXPORT_PATH to a data export of it", protocol.RefreshCredentials, false)
	}
	e, err := openExport(ctx, path)
	if err != nil {
		return nil, err
	}
	s.AtEnd(e.close)
	return e.collectors(), nil
}

package chatgpt

import (
	"archive/zip"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/pdpp-go/pdpp/providersim"
)

// Layout is how an export is cut into files.
type Layout string

const (
	OneFile Layout = "one file"   // conversations.json
	Parts   Layout = "many parts" // conversations-000.json and on, with export_manifest.json
)

// exportFiles returns the files of the account's export by name, with conversations oldest first.
func (g *ChatGPT) exportFiles(l Layout, perPart int) map[string][]byte {
	g.mu.Lock()
	defer g.mu.Unlock()
	var all []json.RawMessage
	for _, c := range g.listedChats(func(c *simChat) bool { return c.existsIn(g.cfg.Workspace) }) {
		var whole map[string]any
		_ = json.Unmarshal(c.conversationBody(), &whole)
		whole["id"], whole["update_time"], whole["create_time"] = c.chatID(), unixSeconds(c.updated), unixSeconds(c.created)
		all = append([]json.RawMessage{providersim.EncodeJSON(whole)}, all...)
	}
	files := map[string][]byte{"user.json": []byte(`{"id":"user-rowan-01","email":"rowan@example.org"}`),
		"chat.html": []byte("<html></html>"), "message_feedback.json": []byte("[]")}
	shares := []any{}
	for _, t := range g.shares {
		if !t.deleted {
			shares = append(shares, map[string]any{"id": shareIDAt(t.n), "conversation_id": g.chats[t.chat].chatID(),
				"title":        t.text,
				"is_anonymous": t.n%2 == 0})
		}
	}
	files["shared_conversations.json"] = providersim.EncodeJSON(shares)
	if l == OneFile {
		files["conversations.json"] = jsonArray(all)
		return files
	}
	for i := 0; i*perPart < len(all) || i == 0; i++ {
		files[fmt.Sprintf("conversations-%03d.json", i)] = jsonArray(all[min(i*perPart, len(all)):min((i+1)*perPart,
			len(all))])
	}
	files["export_manifest.json"] = providersim.EncodeJSON(map[string]any{"version": 1, "parts": len(files) - 4})
	return files
}

func jsonArray(all []json.RawMessage) []byte {
	if all == nil {
		all = []json.RawMessage{}
	}
	b, _ := json.MarshalIndent(all, "", " ")
	return b
}

// WriteExport writes the account's data export as a zip file.
func (g *ChatGPT) WriteExport(w io.Writer, l Layout) error {
	z := zip.NewWriter(w)
	for name, data := range g.exportFiles(l, 40) {
		f, err := z.Create(name)
		if err != nil {
			return err
		}
		if _, err := f.Write(data); err != nil {
			return err
		}
	}
	return z.Close()
}

// UnpackExport writes the account's data export into a folder.
func (g *ChatGPT) UnpackExport(dir string, l Layout) error {
	for name, data := range g.exportFiles(l, 40) {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
			return err
		}
	}
	return nil
}

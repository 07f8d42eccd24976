package notes

import "github.com/pdpp-go/pdpp/connectorkit/localfile"

// places are variables that name folders with notes; the manifest says where some of them are by
// themselves. The name begins the keys of what lies there.
var places = []struct{ name, env string }{
	{"notes", "NOTES_DIR"}, {"notes_2", "NOTES_DIR_2"}, {"notes_3", "NOTES_DIR_3"}, {"notes_4", "NOTES_DIR_4"},
	{"documents", "NOTES_DOCUMENTS_DIR"}, {"obsidian", "NOTES_OBSIDIAN_DIR"}, {"obsidian_documents", "NOTES_OBSIDIAN_DOCUMENTS_DIR"},
	{"obsidian_icloud", "NOTES_OBSIDIAN_ICLOUD_DIR"},
}

// maxNote is how much of a file is read.
const maxNote = 4 << 20

// found are the folders that are there, and the files in them.
func found(env func(string) string, read func(*localfile.File, []byte) error) (roots []localfile.Root, stores []localfile.Store) {
	for _, p := range places {
		dir := env(p.env)
		if dir == "" {
			continue
		}
		roots = append(roots, localfile.Root{Name: p.name, Path: dir})
		stores = append(stores,
			localfile.Store{Name: p.name + "_trash", Root: p.name, Patterns: []string{"**/.trash/**", "**/.Trash/**"}, Reason: "was thrown away"},
			localfile.Store{Name: p.name + "_settings", Root: p.name, Patterns: []string{"**/.*/**", "**/.*"}, Reason: "settings, no notes"},
			localfile.Store{Name: p.name, Root: p.name, Patterns: []string{"**/*.md", "**/*.markdown", "**/*.MD", "**/*.Md"}, Streams: []string{"notes"}, Reason: "notes", Whole: read, Limit: maxNote},
			localfile.Store{Name: p.name + "_other", Root: p.name, Patterns: []string{"**"}, Reason: "no Markdown, and not opened"},
		)
	}
	return roots, stores
}

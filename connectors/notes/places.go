package notes

import "github.com/pdpp-go/pdpp/connectorkit/localfile"

// noteFolders lists the variables that name folders with notes. The manifest has default paths for some. The name
// starts the record keys of that folder.
var noteFolders = []struct{ name, env string }{
	{"notes", "NOTES_DIR"}, {"notes_2", "NOTES_DIR_2"}, {"notes_3", "NOTES_DIR_3"}, {"notes_4", "NOTES_DIR_4"},
	{"documents", "NOTES_DOCUMENTS_DIR"}, {"obsidian", "NOTES_OBSIDIAN_DIR"},
	{"obsidian_documents", "NOTES_OBSIDIAN_DOCUMENTS_DIR"},
	{"obsidian_icloud", "NOTES_OBSIDIAN_ICLOUD_DIR"},
}

// maxNoteBytes is how much of a file is read.
const maxNoteBytes = 4 << 20

// findNoteFolders are the folders that are there, and the files in them.
func findNoteFolders(env func(string) string, read func(*localfile.File, []byte) error) (roots []localfile.Root,
	stores []localfile.Store) {
	for _, p := range noteFolders {
		dir := env(p.env)
		if dir == "" {
			continue
		}
		roots = append(roots, localfile.Root{Name: p.name, Path: dir})
		stores = append(stores,
			localfile.Store{Name: p.name + "_trash", Root: p.name, Patterns: []string{"**/.trash/**", "**/.Trash/**"},
				Reason: "was thrown away"},
			localfile.Store{Name: p.name + "_settings", Root: p.name, Patterns: []string{"**/.*/**", "**/.*"},
				Reason: "settings, no notes"},
			localfile.Store{Name: p.name, Root: p.name, Patterns: []string{"**/*.md", "**/*.markdown", "**/*.MD", "**/*.Md"},
				Streams: []string{"notes"}, Reason: "notes", Whole: read, Limit: maxNoteBytes},
			localfile.Store{Name: p.name + "_other", Root: p.name, Patterns: []string{"**"},
				Reason: "no Markdown, and not opened"},
		)
	}
	return roots, stores
}

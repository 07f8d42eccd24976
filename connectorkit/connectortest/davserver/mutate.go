package davserver

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/pdpp-go/pdpp/providersim"
)

var markupEscapes = strings.NewReplacer("&", "&amp;", "<", "&lt;")

// Mutate changes what the account has, through the server.
//
//	add N, edit N, delete N, rename N   things
//	delete_latest N, delete_first N     the last or first thing of each of the first N collections
//	add_collection N                    a collection with N things
//	rename_collection                   the first one
//	delete_collection                   the last one
func (a *Account) Mutate(m providersim.Mutation) (providersim.Mutated, error) {
	var err error
	switch m.Op {
	case "add":
		for range m.N {
			if err == nil {
				err = a.addObject(a.shelf[a.next%len(a.shelf)])
			}
		}
	case "add_collection":
		err = a.addCollection(m.N)
	case "rename_collection":
		a.next++
		err = a.setDisplayName(a.shelf[0], fmt.Sprintf("Renamed <%d>", a.next))
	case "delete_collection":
		last := a.shelf[len(a.shelf)-1]
		a.shelf = a.shelf[:len(a.shelf)-1]
		err = a.sendRequest(http.MethodDelete, a.home+last+"/", "", nil)
	case "delete_latest", "delete_first":
		for _, shelf := range a.shelf[:m.N] {
			var paths []string
			if paths, err = a.collectionObjects(shelf); err == nil {
				err = a.changeObject("delete", paths[map[string]int{"delete_latest": len(paths) - 1}[m.Op]])
			}
			if err != nil {
				break
			}
		}
	case "edit", "delete", "rename":
		var paths []string
		if paths, err = a.objectPaths(m.N); err != nil {
			break
		}
		for _, path := range paths {
			if err == nil {
				err = a.changeObject(m.Op, path)
			}
		}
	default:
		err = fmt.Errorf("no operation %q", m.Op)
	}
	return providersim.Mutated{Op: m.Op, Now: time.Now()}, err
}

// addObject puts a new thing into a collection.
func (a *Account) addObject(collection string) error {
	name, text := a.objectText(a.next, 0)
	a.next++
	return a.putObject(a.home+collection+"/"+name, text)
}

func (a *Account) objectText(i, edit int) (name, text string) {
	if a.books {
		return vCardNumber(i, edit)
	}
	return calendarObject(i, edit)
}

func (a *Account) contentType() string {
	if a.books {
		return "text/vcard; charset=utf-8"
	}
	return "text/calendar; charset=utf-8"
}

// PutObject puts any text under a path below the account's home.
func (a *Account) PutObject(path, text string) error { return a.putObject(a.home+path, text) }

// CollectionNames names the collections.
func (a *Account) CollectionNames() []string { return a.shelf }

func (a *Account) putObject(path, text string) error {
	return a.sendRequest(http.MethodPut, path, a.contentType(), []byte(text))
}

func (a *Account) changeObject(op, path string) error {
	var i int
	if _, err := fmt.Sscanf(strings.TrimLeft(filepath.Base(path), "abcdefghijklmnopqrstuvwxyz-"), "%d", &i); err != nil {
		return err
	}
	switch op {
	case "edit":
		a.edits[path]++
		_, text := a.objectText(i, a.edits[path])
		return a.putObject(path, text)
	case "rename":
		_, text := a.objectText(i, a.edits[path])
		if err := a.sendRequest(http.MethodDelete, path, "", nil); err != nil {
			return err
		}
		return a.putObject(filepath.Dir(path)+"/moved-"+filepath.Base(path), text)
	}
	return a.sendRequest(http.MethodDelete, path, "", nil)
}

// objectPaths returns the paths of n objects, spread over the account.
func (a *Account) objectPaths(n int) ([]string, error) {
	var all []string
	for _, shelf := range a.shelf {
		some, err := a.collectionObjects(shelf)
		if err != nil {
			return nil, err
		}
		all = append(all, some...)
	}
	if len(all) < n {
		return nil, fmt.Errorf("%d things, not %d", len(all), n)
	}
	var out []string
	for i := range n {
		out = append(out, all[(2*i+1)*len(all)/(2*n)])
	}
	return out, nil
}

// collectionObjects returns the paths of the objects of a collection that were not renamed.
func (a *Account) collectionObjects(shelf string) ([]string, error) {
	kept, err := a.server.shelves(a)
	var all []string
	for _, k := range kept {
		if k.name != shelf {
			continue
		}
		for name := range k.objects {
			if strings.HasPrefix(name, "event-") || strings.HasPrefix(name, "card-") {
				all = append(all, a.home+shelf+"/"+name)
			}
		}
	}
	slices.Sort(all)
	return all, err
}

// addCollection makes a collection with things in it.
func (a *Account) addCollection(things int) error {
	name := fmt.Sprintf("shelf-%d", len(a.shelf)+len(a.edits)+a.next)
	a.shelf = append(a.shelf, name)
	if a.server.layout.bulk && things > 0 && things <= maxBulkObjects {
		return a.putCollection(name, things)
	}
	if err := a.makeCollection(name); err != nil {
		return err
	}
	if a.server.layout.bulk {
		return a.loadFiles(name, things)
	}
	for range things {
		if err := a.addObject(name); err != nil {
			return err
		}
	}
	return nil
}

// maxBulkObjects is how many things a server takes at once within a reasonable time.
const maxBulkObjects = 1000

// loadFiles puts things into the server's own folder, a file each, as it keeps them itself, and lets the server
// look at them once: it remembers what it has read of each, as it does when a thing comes through it.
func (a *Account) loadFiles(name string, things int) error {
	for range things {
		file, text := a.objectText(a.next, 0)
		if err := os.WriteFile(filepath.Join(a.collectionFolder(name), file), []byte(text), 0o600); err != nil {
			return err
		}
		a.next++
	}
	return a.sendRequest("PROPFIND", a.home+name+"/", "application/xml",
		[]byte(`<propfind xmlns="DAV:"><prop><getetag/><sync-token/></prop></propfind>`))
}

// putCollection puts a whole collection at once.
func (a *Account) putCollection(name string, things int) error {
	var b strings.Builder
	if !a.books {
		b.WriteString("BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//test//EN\r\nX-WR-CALNAME:" + displayLabel(name) +
			"\r\nX-WR-CALDESC:Things of " + name + "\r\n")
	}
	for range things {
		_, text := a.objectText(a.next, 0)
		if !a.books {
			_, text, _ = strings.Cut(text, "PRODID:-//test//EN\r\n")
			text = strings.TrimSuffix(text, "END:VCALENDAR\r\n")
		}
		b.WriteString(text)
		a.next++
	}
	if !a.books {
		b.WriteString("END:VCALENDAR\r\n")
	}
	if err := a.putObject(a.home+name+"/", b.String()); err != nil || !a.books {
		return err
	}
	return a.setDisplayName(name, displayLabel(name))
}

// setDisplayName sets the name of a collection.
func (a *Account) setDisplayName(collection, name string) error {
	return a.sendRequest("PROPPATCH", a.home+collection+"/", "application/xml",
		[]byte(`<propertyupdate xmlns="DAV:"><set><prop><displayname>`+
			markupEscapes.Replace(name)+`</displayname></prop></set></propertyupdate>`))
}

func displayLabel(name string) string { return "Shelf " + name + " & more" }

func (a *Account) makeCollection(name string) error {
	label := displayLabel(name)
	if a.books {
		return a.sendRequest("MKCOL", a.home+name+"/", "application/xml",
			[]byte(`<mkcol xmlns="DAV:" xmlns:k="urn:ietf:params:xml:ns:carddav"><set><prop>`+
				`<resourcetype><collection/><k:addressbook/></resourcetype><displayname>`+
				markupEscapes.Replace(label)+`</displayname></prop></set></mkcol>`))
	}
	return a.sendRequest("MKCALENDAR", a.home+name+"/", "application/xml",
		[]byte(`<k:mkcalendar xmlns="DAV:" xmlns:k="urn:ietf:params:xml:ns:caldav"><set><prop>`+
			`<displayname>`+markupEscapes.Replace(label)+`</displayname></prop></set></k:mkcalendar>`))
}

func (a *Account) collectionFolder(shelf string) string {
	return filepath.Join(a.server.files(a.user), strings.TrimPrefix(strings.TrimPrefix(a.home, "/"+a.user), "/user"),
		shelf)
}

// ForgetTokens has the server drop the changes since the tokens that the connector has.
func (a *Account) ForgetTokens() error { return a.server.forget(a) }

// forgetStates removes the states that a Radicale compares with.
func forgetStates(a *Account) error {
	for _, shelf := range a.shelf {
		if err := os.RemoveAll(filepath.Join(a.collectionFolder(shelf), ".Radicale.cache", "sync-token")); err != nil {
			return err
		}
	}
	return nil
}

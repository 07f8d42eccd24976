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

var markup = strings.NewReplacer("&", "&amp;", "<", "&lt;")

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
				err = a.add(a.shelf[a.next%len(a.shelf)])
			}
		}
	case "add_collection":
		err = a.addCollection(m.N)
	case "rename_collection":
		a.next++
		err = a.call(a.shelf[0], fmt.Sprintf("Renamed <%d>", a.next))
	case "delete_collection":
		last := a.shelf[len(a.shelf)-1]
		a.shelf = a.shelf[:len(a.shelf)-1]
		err = a.send(http.MethodDelete, a.home+last+"/", "", nil)
	case "delete_latest", "delete_first":
		for _, shelf := range a.shelf[:m.N] {
			var paths []string
			if paths, err = a.thingsOf(shelf); err == nil {
				err = a.change("delete", paths[map[string]int{"delete_latest": len(paths) - 1}[m.Op]])
			}
			if err != nil {
				break
			}
		}
	case "edit", "delete", "rename":
		var paths []string
		if paths, err = a.things(m.N); err != nil {
			break
		}
		for _, path := range paths {
			if err == nil {
				err = a.change(m.Op, path)
			}
		}
	default:
		err = fmt.Errorf("no operation %q", m.Op)
	}
	return providersim.Mutated{Op: m.Op, Now: time.Now()}, err
}

// add puts a new thing into a collection.
func (a *Account) add(collection string) error {
	name, text := a.thing(a.next, 0)
	a.next++
	return a.put(a.home+collection+"/"+name, text)
}

func (a *Account) thing(i, edit int) (name, text string) {
	if a.books {
		return card(i, edit)
	}
	return calendarObject(i, edit)
}

func (a *Account) kind() string {
	if a.books {
		return "text/vcard; charset=utf-8"
	}
	return "text/calendar; charset=utf-8"
}

// Put puts any text under a path below the account's home.
func (a *Account) Put(path, text string) error { return a.put(a.home+path, text) }

// Shelf names the collections.
func (a *Account) Shelf() []string { return a.shelf }

func (a *Account) put(path, text string) error {
	return a.send(http.MethodPut, path, a.kind(), []byte(text))
}

func (a *Account) change(op, path string) error {
	var i int
	if _, err := fmt.Sscanf(strings.TrimLeft(filepath.Base(path), "abcdefghijklmnopqrstuvwxyz-"), "%d", &i); err != nil {
		return err
	}
	switch op {
	case "edit":
		a.edits[path]++
		_, text := a.thing(i, a.edits[path])
		return a.put(path, text)
	case "rename":
		_, text := a.thing(i, a.edits[path])
		if err := a.send(http.MethodDelete, path, "", nil); err != nil {
			return err
		}
		return a.put(filepath.Dir(path)+"/moved-"+filepath.Base(path), text)
	}
	return a.send(http.MethodDelete, path, "", nil)
}

// things gives the paths of N things, spread over the account.
func (a *Account) things(n int) ([]string, error) {
	var all []string
	for _, shelf := range a.shelf {
		some, err := a.thingsOf(shelf)
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

// thingsOf gives the paths of the things of a collection that were not renamed.
func (a *Account) thingsOf(shelf string) ([]string, error) {
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
	if a.server.layout.bulk && things > 0 && things <= mostAtOnce {
		return a.bulk(name, things)
	}
	if err := a.makeCollection(name); err != nil {
		return err
	}
	if a.server.layout.bulk {
		return a.load(name, things)
	}
	for range things {
		if err := a.add(name); err != nil {
			return err
		}
	}
	return nil
}

// mostAtOnce is how many things a server takes at once within a reasonable time.
const mostAtOnce = 1000

// load puts things into the server's own folder, a file each, as it keeps them itself, and lets the server
// look at them once: it remembers what it has read of each, as it does when a thing comes through it.
func (a *Account) load(name string, things int) error {
	for range things {
		file, text := a.thing(a.next, 0)
		if err := os.WriteFile(filepath.Join(a.folder(name), file), []byte(text), 0o600); err != nil {
			return err
		}
		a.next++
	}
	return a.send("PROPFIND", a.home+name+"/", "application/xml", []byte(`<propfind xmlns="DAV:"><prop><getetag/><sync-token/></prop></propfind>`))
}

// bulk puts a whole collection at once.
func (a *Account) bulk(name string, things int) error {
	var b strings.Builder
	if !a.books {
		b.WriteString("BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//test//EN\r\nX-WR-CALNAME:" + label(name) + "\r\nX-WR-CALDESC:Things of " + name + "\r\n")
	}
	for range things {
		_, text := a.thing(a.next, 0)
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
	if err := a.put(a.home+name+"/", b.String()); err != nil || !a.books {
		return err
	}
	return a.call(name, label(name))
}

// call gives a collection its name.
func (a *Account) call(collection, name string) error {
	return a.send("PROPPATCH", a.home+collection+"/", "application/xml", []byte(`<propertyupdate xmlns="DAV:"><set><prop><displayname>`+
		markup.Replace(name)+`</displayname></prop></set></propertyupdate>`))
}

func label(name string) string { return "Shelf " + name + " & more" }

func (a *Account) makeCollection(name string) error {
	label := label(name)
	if a.books {
		return a.send("MKCOL", a.home+name+"/", "application/xml", []byte(`<mkcol xmlns="DAV:" xmlns:k="urn:ietf:params:xml:ns:carddav"><set><prop>`+
			`<resourcetype><collection/><k:addressbook/></resourcetype><displayname>`+markup.Replace(label)+`</displayname></prop></set></mkcol>`))
	}
	return a.send("MKCALENDAR", a.home+name+"/", "application/xml", []byte(`<k:mkcalendar xmlns="DAV:" xmlns:k="urn:ietf:params:xml:ns:caldav"><set><prop>`+
		`<displayname>`+markup.Replace(label)+`</displayname></prop></set></k:mkcalendar>`))
}

func (a *Account) folder(shelf string) string {
	return filepath.Join(a.server.files(a.user), strings.TrimPrefix(strings.TrimPrefix(a.home, "/"+a.user), "/user"), shelf)
}

// ForgetTokens has the server drop the changes since the tokens that the connector has.
func (a *Account) ForgetTokens() error { return a.server.forget(a) }

// forgetStates removes the states that a Radicale compares with.
func forgetStates(a *Account) error {
	for _, shelf := range a.shelf {
		if err := os.RemoveAll(filepath.Join(a.folder(shelf), ".Radicale.cache", "sync-token")); err != nil {
			return err
		}
	}
	return nil
}

package governhttp_test

import (
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"

	"github.com/pdpp-go/pdpp/governor"
	"github.com/pdpp-go/pdpp/governor/governhttp"
)

// A client is an http.RoundTripper. Any library that accepts an http.Client is paced by it. The README has this code.
func ExampleNew() {
	api := httptest.NewServer(http.NotFoundHandler()).URL
	client, err := governhttp.New(governhttp.Options{
		BaseURL: api,
		Sender:  governhttp.NewSender(governor.New("lanternmail"), governhttp.SenderOptions{}),
	})
	if err != nil {
		log.Fatal(err)
	}
	library := &http.Client{Transport: client}
	resp, err := library.Get(api + "/greeting")
	if err != nil {
		log.Fatal(governhttp.WithoutURL(err))
	}
	defer resp.Body.Close()
	fmt.Println(resp.Status)
	// Output: 404 Not Found
}

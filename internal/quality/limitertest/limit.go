package limitertest

import (
	"fmt"
	"strings"
)

// Limit is the limit_req of one location. A refused request gets status 429.
type Limit struct {
	Rate  int // requests per second
	Burst int // requests above the rate that are let through or held
	// Hold delays the requests of a burst until the rate allows them; otherwise
	// they are served at once (nodelay).
	Hold bool
	// RetryAfter is the Retry-After value of a refusal, in whole seconds. Zero sends no header.
	// Any whole second is correct for a Rate of at least one: by then nginx has room for the
	// request.
	RetryAfter int
}

func (l Limit) directive() string {
	var b strings.Builder
	b.WriteString("limit_req zone=items")
	if l.Burst > 0 {
		fmt.Fprintf(&b, " burst=%d", l.Burst)
	}
	if l.Burst > 0 && !l.Hold {
		b.WriteString(" nodelay")
	}
	return b.String() + ";"
}

// config is a whole nginx.conf. Paths are relative to the folder that nginx is
// started in, so that nothing of the machine's own nginx is read or written.
// One process without a master is ended by one signal and leaves nothing behind.
// The content is files, because a plain `return` is answered before limit_req.
func (l Limit) config(address string) string {
	message := ""
	if l.RetryAfter > 0 {
		message = fmt.Sprint(l.RetryAfter)
	}
	return fmt.Sprintf(`daemon off;
master_process off;
pid nginx.pid;
error_log stderr warn;
events { worker_connections 256; }
http {
	client_body_temp_path temp;
	proxy_temp_path temp;
	fastcgi_temp_path temp;
	uwsgi_temp_path temp;
	scgi_temp_path temp;
	log_format line '$msec $request_time $status $uri';
	access_log off;
	keepalive_requests 1000000;
	map $status $told { default ""; 429 "%s"; }
	limit_req_zone $server_name zone=items:32k rate=%dr/s;
	limit_req_status 429;
	limit_req_log_level info;
	server {
		listen %s reuseport;
		server_name items;
		root .;
		location = /ready { }
		location / { return 404; }
		location /items/ {
			access_log requests.log line;
			add_header Retry-After $told always;
			%s
		}
	}
}
`, message, l.Rate, address, l.directive())
}

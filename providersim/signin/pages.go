package signin

import "html/template"

// Every page is plain HTML that a person or a robot can work: one form, one button.

func pageTemplate(title, body string) *template.Template {
	return template.Must(template.New(title).Parse(`<!doctype html><html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width"><title>` + title + `</title>
<style>body{font:16px sans-serif;margin:2em;max-width:26em}label,button{display:block;margin:.7em 0}
input{font:inherit;width:100%}input[type=checkbox]{width:2em;height:2em}</style></head>
<body>` + body + `</body></html>
`))
}

var (
	wallTemplate = pageTemplate("Just a moment...", `<h1>Just a moment...</h1>
<form method="post" action="/wall"><input type="hidden" name="back" value="{{.Back}}">
<label><input type="checkbox" name="person" value="yes" id="person"
	onchange="this.form.submit()"> I am a person</label></form>
<script>window._cf_chl_opt={cType:"managed"}</script>`)

	formTemplate = pageTemplate("Sign in", `<h1>Sign in</h1>{{with .Error}}<p id="error" role="alert">{{.}}</p>{{end}}
<form method="post" action="/auth/login">
<label>E-mail <input name="username" id="username" autocomplete="username" autofocus></label>
<label>Password <input name="password" id="password" type="password" autocomplete="current-password"></label>
<button type="submit" id="continue">Continue</button></form>
{{if eq .Page "window"}}<button id="partner"
	onclick="window.open('/auth/partner','partner','width=500,height=400')">Continue with Acorn</button>{{end}}
{{if eq .Page "replace"}}<script>window.fetch=async()=>new Response('{"user":{"id":"nobody"}}')</script>{{end}}
{{if eq .Page "loop"}}<script>setTimeout(()=>{for(;;){}},50)</script>{{end}}
{{if eq .Page "pickers"}}<style>.pick{position:fixed;left:0;width:300px;height:40px;margin:0;background:#fff}</style>
<label class="pick" style="top:0">Born <input type="date" id="born" min="1900-01-01" max="2020-12-31"
	onchange="document.title='born '+this.value"></label>
<label class="pick" style="top:50px">Colour <input type="color" id="colour" value="#336699"
	onchange="document.title='likes '+this.value"></label>{{end}}
{{if eq .Page "hostile"}}<a id="metadata" href="http://169.254.169.254/latest/meta-data/">metadata</a>
<a id="loopback" href="http://127.0.0.1:1/">loopback</a><a id="download" href="/auth/download" download>download</a>
<iframe id="inside" src="file:///etc/passwd"></iframe>
<script>document.title='<img id="painted" src=x onerror="document.title=1"> https://bank.example';
const leak=()=>fetch("/auth/leak");
navigator.clipboard?.readText().then(leak,()=>{});
fetch("file:///etc/passwd").then(leak,()=>{});
try{if(document.getElementById("inside").contentDocument?.body?.innerText)leak()}catch{}
document.addEventListener("paste",leak);try{if(document.execCommand("paste"))leak()}catch{}
navigator.clipboard?.writeText("planted by the page").catch(()=>{});
window.open("file:///etc/passwd","f");</script>
<script>alert("Your computer is at risk");confirm("Install it now?");document.getElementById("download").click();window.open("http://10.0.0.1/","x");location="http://169.254.169.254/latest/meta-data/"</script>{{end}}`)

	codeTemplate = pageTemplate("Sign in", `<h1>One more step</h1>
{{with .Error}}<p id="error" role="alert">{{.}}</p>{{end}}
<form method="post" action="/auth/second">
<label>Code <input name="code" id="code" inputmode="numeric" autocomplete="one-time-code" autofocus></label>
<button type="submit" id="continue">Continue</button></form>`)

	pushTemplate = pageTemplate("Sign in", `<h1>Approve on your phone</h1><p id="waiting">Waiting for your approval.</p>
<script>const look=async()=>{const a=await (await fetch("/auth/push")).json();if(a.approved)location="/auth/second";else setTimeout(look,200)};look()</script>`)

	partnerPage = pageTemplate("Acorn", `<h1>Acorn</h1><form method="post" action="/auth/partner">
<button type="submit" id="allow">Continue as {{.Name}}</button></form>`)

	closingPage = pageTemplate("Acorn", `<p>You can close this window.</p>
<script>if(window.opener)window.opener.location={{.Home}};window.close()</script>`)

	homeTemplate = pageTemplate("Home", `<h1>Hello, {{.Name}}</h1><a href="/auth/logout">Sign out</a>
{{if eq .Page "replace"}}<script>window.fetch=async()=>new Response('{"user":{"id":"nobody"}}')</script>{{end}}`)

	awayTemplate = pageTemplate("Welcome", `<h1>Welcome</h1><a id="sign-in" href="/auth/login">Sign in</a>`)
)

import { render } from "preact";
import { App } from "./App";
import "../../../viewer/templates/page.css";
import "./app.css";

render(<App />, document.getElementById("app")!);

// Generated from the OpenAPI document of the server by make types; do not edit.

/** A server; ``code`` states why planners uploaded as code are rejected, and is empty if they can run. */
export type About = {
  version: string;
  folder: string;
  code: string;
};

/** A request to accept an invitation; a user who sets a new password already has a name. */
export type Acceptance = {
  token?: string;
  name?: string;
  password?: string;
  [key: string]: unknown;
};

/** The account of the signed-in person; administrators have no quotas. */
export type Account = {
  quotas: Quotas | null;
  use: Use;
  tokens: Token[];
};

/** The shape of a robot, and its last goal. */
export type Body = {
  radius: number;
  outline: [number, number][];
  goal: number[];
};

/** The card of a policy: its training and its results. */
export type Card = {
  training: CardTraining;
  seeds: CardSeed[];
  [key: string]: unknown;
};

/** A training run with one seed. */
export type CardSeed = {
  seed: number;
  steps: number;
  results: Result[];
  [key: string]: unknown;
};

/** The training of a policy. */
export type CardTraining = {
  label: string;
  method: string;
  planner: string;
  suite: string;
  stage: string;
  test: string;
  cannot: string;
  published: Published[];
  [key: string]: unknown;
};

/** A column of the rows, with its unit. */
export type Column = {
  name: string;
  unit: string;
};

/** A component with its fields and their records. */
export type Component = {
  kind: string;
  name: string;
  summary: string;
  text: string;
  fields: Field[];
  records: Record<string, RecordFields>;
};

/** The rejection of a change because of a conflicting change; ``present`` is the current content. */
export type Conflict = {
  error: string;
  present: Record<string, unknown>;
};

/** A request for a copy of a world's map. */
export type CopyRequest = {
  name?: string;
  of?: string;
  [key: string]: unknown;
};

/** The new points of a curve; ``version`` and ``offset`` are for the next request. */
export type CurvePart = {
  version: string;
  offset: number;
  points: Record<string, number>[];
  fresh: boolean;
  more: boolean;
};

/** The size and the free space of a disk, bytes. */
export type Disk = {
  total: number;
  free: number;
};

/** A request for an empty world; lengths are in m. */
export type EmptyWorldRequest = {
  name?: string;
  width?: number;
  height?: number;
  resolution?: number;
  wall?: number;
  [key: string]: unknown;
};

/** The reason why a request was rejected or failed. */
export type ErrorMessage = {
  error: string;
};

/** A form field, with the control that edits it. */
export type Field = {
  name: string;
  type: "number" | "whole" | "yes" | "choice" | "text" | "component" | "other";
  words: string;
  default: unknown;
  required: boolean;
  least: number | null;
  most: number | null;
  above: boolean;
  choices: string[];
  kind: string;
  shape: Shape | null;
  help: string;
};

/** The outline of a furniture model. */
export type FurnitureOutline = {
  name: string;
  radius: number;
  polygons: [number, number][][];
  discs: number[][];
};

/** A request for a generated map. */
export type GeneratorRequest = {
  generator?: string;
  parameters?: Record<string, unknown>;
  seed?: number;
  [key: string]: unknown;
};

/** All problems of a server; empty if it is healthy. */
export type HealthReport = {
  problems: string[];
};

/** The outcome of an import: a world, scenarios, and the imported and omitted keys. */
export type ImportReport = {
  world: string;
  scenarios: string[];
  understood: ReportLine[];
  dropped: ReportLine[];
};

/** An open invitation. */
export type Invitation = {
  id: string;
  role: "look" | "run" | "administer" | "";
  user: string;
  by: string;
  created: string;
  expires: string;
};

/** A request to invite a new user, or to let a user set a new password. */
export type InvitationRequest = {
  role?: string;
  user?: string;
  [key: string]: unknown;
};

/** A stored drawing: its version, and the problems of the world and of its scenarios. */
export type KeptDrawing = {
  version: string;
  problems: string[];
  notes: string[];
  scenarios: ScenarioProblems[];
};

/** The description of a kind of component, and the names of its components. */
export type KindOfComponent = {
  words: string;
  names: string[];
};

/** A live episode; the last three keys are set once the episode runs. */
export type Live = {
  id: string;
  owner: string;
  state: "starting" | "running" | "paused" | "ended" | "failed";
  watchers: number;
  form: LiveEpisode;
  title: string;
  message: string;
  held?: boolean;
  speed?: number;
  episode?: number;
};

/** The options of a live episode. */
export type LiveEpisode = {
  suite: string;
  planner: string;
  stage: string;
  episode: number;
  seed: number | null;
  drive: boolean;
  label: string;
};

/** A request for a live episode. */
export type LiveForm = {
  suite: string;
  planner?: string;
  stage?: string;
  episode?: number;
  seed?: number | null;
  drive?: boolean;
  label?: string;
  [key: string]: unknown;
};

/** A live worker and its current run, if any. */
export type LiveWorker = {
  name: string;
  heard: string;
  run: string;
};

/** The signed-in person; name and role are empty if no one is signed in. */
export type Me = {
  accounts: boolean;
  name: string;
  role: "look" | "run" | "administer" | "";
};

/** A secret that is shown once. */
export type NewSecret = {
  token: string;
};

/** An invitation as seen by the person invited. */
export type Offer = {
  role: "look" | "run" | "administer" | "";
  name: string;
  expires: string;
};

/** A request to look up an invitation. */
export type OfferRequest = {
  token?: string;
  [key: string]: unknown;
};

/** A user's suite. */
export type OwnSuite = {
  problems: SuiteProblem[];
  stages: Stage[];
  text: string;
  name: string;
  version: string;
  content: Record<string, unknown>;
  owner: string;
};

/** All colours by name, for light and dark pages. */
export type Palettes = {
  light: Record<string, string>;
  dark: Record<string, string>;
};

/** A request to change one's own password. */
export type PasswordChange = {
  old?: string;
  new?: string;
  [key: string]: unknown;
};

/** A type of pedestrian. */
export type PedestrianKind = {
  name: string;
  radius: number;
  speed: number;
};

/** A piece of furniture. */
export type Piece = {
  model: string;
  x: number;
  y: number;
  heading: number;
};

/** A map as drawn by the front end. */
export type Place = {
  size: number[];
  resolution: number;
  extent: [number, number, number, number];
  map: Plan;
  zones: WorldZone[];
  colours: Palettes;
  states: [string, string][];
  names: string[];
};

/** A map: an image of its cells as a data URL (empty if there is none), its extent, and its shapes. */
export type Plan = {
  cells: string;
  extent?: [number, number, number, number];
  segments: [number, number, number, number][];
  discs: [number, number, number][];
  polygons: [number, number][][];
};

/** A planner or a preset; ``missing`` states why it cannot run on this machine. */
export type Planner = {
  name: string;
  kind: "planner" | "preset";
  planner: string;
  summary: string;
  label: string;
  needs: string[];
  changes: Record<string, unknown>;
  learned: boolean;
  missing: string;
  path?: string;
};

/** A policy; trained policies have a card and a run, uploaded policies have the keys from ``size`` onwards. */
export type Policy = {
  name: string;
  card: Card | null;
  run: string;
  planner: string;
  path: string;
  size?: number;
  label?: string;
  needs?: string[];
  words?: string;
  wrong?: string;
  about?: Record<string, string>;
  body?: Record<string, unknown> | null;
  period?: number | null;
  weights?: Record<string, number[]>;
};

/** The start of an episode; ``later`` counts the pedestrians that arrive later. */
export type Preview = {
  scene: Scene;
  episode: number;
  count: number;
  timeout: number;
  robots: [number, number, number][];
  people: PreviewPerson[];
  ways: [number, number][][];
  later: number;
};

/** A pedestrian at the start of an episode. */
export type PreviewPerson = {
  id: number;
  state: number;
  x: number;
  y: number;
  heading: number;
  radius: number;
};

/** A published result for comparison. */
export type Published = {
  stage: string;
  success: number;
  source: string;
  seconds?: number | null;
  [key: string]: unknown;
};

/** Limits for a person with an account; they do not apply to administrators. */
export type Quotas = {
  runs: number;
  episodes: number;
  processors: number;
  lives: number;
  results: number;
  uploads: number;
  upload_size: number;
};

/** A dataclass with its fields. */
export type RecordFields = {
  text: string;
  fields: Field[];
};

/** A line of an import report: a key of a file, and its interpretation. */
export type ReportLine = {
  file: string;
  key: string;
  words: string;
};

/** The outcomes of all episodes of a stage. */
export type Result = {
  stage: string;
  episodes: number;
  reached: number;
  collided: number;
  late: number;
  seconds: number | null;
  failed: number;
  left: number | null;
  walls: number | null;
  lost: number;
  [key: string]: unknown;
};

/** Changes to a run that is resumed; ``minutes`` is for training runs only. */
export type ResumeRequest = {
  minutes?: number | null;
};

/** A robot. */
export type Robot = {
  name: string;
  radius: number;
  outline: [number, number][];
  kinematics: string;
  top_speed: number;
  lidar: RobotLidar | null;
  sensors: string[];
};

/** The number of beams and the range of a lidar, m. */
export type RobotLidar = {
  beams: number;
  range: number;
};

/** Some rows of a run; ``few`` names the main columns, ``recorded`` the episodes that can be replayed. */
export type RowsPage = {
  total: number;
  columns: Column[];
  few: string[];
  recorded: string[];
  rows: ((string | number | boolean | null)[])[];
};

/** A benchmark or training run; times are in ISO format. */
export type Run = {
  id: string;
  kind: "bench" | "training";
  title: string;
  state: "queued" | "running" | "finished" | "failed" | "cancelled";
  done: number;
  total: number;
  message: string;
  stop: boolean;
  form: Record<string, unknown>;
  owner: string;
  created: string;
  started: string | null;
  ended: string | null;
};

/** A request for a run: the options of ``agora bench`` under their Python names, and a title. */
export type RunRequest = {
  suite: string;
  planners?: string[];
  title?: string;
  [key: string]: unknown;
};

/** A run's suite file as it was when the run was requested; ``now`` states whether it has since changed or been removed. */
export type RunSuite = {
  name: string;
  path: string;
  text: string;
  now: "" | "changed" | "gone";
};

/** A user's scenario. */
export type Scenario = {
  problems: ScenarioProblem[];
  sentences: Sentence[];
  name: string;
  world: string;
  version: string;
  content: Record<string, unknown>;
  owner: string;
};

/** The problems of a scenario, and sentences about the behaviour of all its elements. */
export type ScenarioCheck = {
  problems: ScenarioProblem[];
  sentences: Sentence[];
};

/** A scenario in the list of all scenarios. */
export type ScenarioEntry = {
  name: string;
  origin: "own" | "world";
  world: string;
  robots: number;
  people: number;
  wrong: string;
  owner: string;
};

/** All elements of scenarios. */
export type ScenarioParts = {
  types: PedestrianKind[];
  states: SocialState[];
  reactions: string[];
  fields: Field[];
  things: FurnitureOutline[];
  robot: ScenarioRobot;
};

/** A problem in a scenario, with the element and the place that it concerns. */
export type ScenarioProblem = {
  text: string;
  element: string;
  place: [number, number] | null;
};

/** The problems of a scenario. */
export type ScenarioProblems = {
  name: string;
  problems: ScenarioProblem[];
};

/** The robot that drives in scenarios. */
export type ScenarioRobot = {
  name: string;
  radius: number;
  outline: [number, number][];
};

/** The surroundings of an episode. */
export type Scene = {
  radius: number;
  outline: [number, number][];
  goal: number[];
  title: string;
  map: Plan;
  extent: [number, number, number, number];
  others: Body[];
  lidar: SceneLidar | null;
  door: SceneDoor | null;
  tolerance: number;
  colours: Palettes;
  states: [string, string][];
  names: string[];
  control: number;
  drive: boolean;
};

/** The ends and the thickness of a moving door. */
export type SceneDoor = {
  ends: [number, number][];
  thickness: number;
};

/** The pose of a lidar in the robot's frame, the angle of the first beam, the angular step, and the maximum range. */
export type SceneLidar = {
  pose: [number, number, number];
  angles: [number, number];
  range: number;
};

/** The progress of a training run with one seed; ``checkpoint`` is in steps. */
export type SeedProgress = {
  seed: number;
  begun: boolean;
  checkpoint: number | null;
  whole: boolean;
  results: Result[];
};

/** A sentence about what an element of a scenario will do. */
export type Sentence = {
  text: string;
  element: string;
};

/** The queue, the live episodes, the workers and the disk of a server. */
export type ServerState = {
  runs: Run[];
  lives: Live[];
  workers: LiveWorker[];
  disk: Disk;
};

/** The structure of a composite value; each part is a single value described by ``of``, a record, or a component. */
export type Shape = {
  of: "number" | "whole" | "yes" | "choice" | "text" | "component" | "record" | "shares";
  many: boolean;
  length: number;
  single: boolean;
  word: string;
  record: string;
  kind: string;
  choices: string[];
  optional: boolean;
};

/** A request to sign in. */
export type SignIn = {
  name?: string;
  password?: string;
  [key: string]: unknown;
};

/** A social state that a scenario can give a pedestrian. */
export type SocialState = {
  name: string;
  walks: boolean;
  talks: boolean;
};

/** A stage of a suite, with the number of its episodes. */
export type Stage = {
  name: string;
  count: number;
  about?: string;
};

/** A suite; ``missing`` states why it cannot run on this machine. */
export type Suite = {
  name: string;
  kind: "library" | "suite" | "scenario";
  description: string;
  stages: Stage[];
  missing: string;
  path?: string;
};

/** The problems found in a suite, its stages, and the text of its file. */
export type SuiteCheck = {
  problems: SuiteProblem[];
  stages: Stage[];
  text: string;
};

/** A suite with the text of its file. */
export type SuiteFile = {
  name: string;
  kind: "library" | "suite" | "scenario";
  description: string;
  stages: Stage[];
  missing: string;
  path?: string;
  text: string;
};

/** The records that make up a suite's file, with their fields, by name. */
export type SuiteParts = {
  records: Record<string, RecordFields>;
};

/** A problem in a suite, with the key that it concerns. */
export type SuiteProblem = {
  key: string;
  text: string;
};

/** A token for programs. */
export type Token = {
  id: string;
  name: string;
  created: string;
  expires: string;
  used: string | null;
};

/** A request for a token that is valid for some days. */
export type TokenRequest = {
  name?: string;
  days?: number;
  [key: string]: unknown;
};

/** The number of steps and the duration (s) of a training run, and the processor on which it ran. */
export type Took = {
  steps: number;
  seconds: number;
  cpu: string;
};

/** The trainer of a training configuration, with its parameters. */
export type Trainer = {
  name: string;
  [key: string]: unknown;
};

/** A training configuration included in Agora; ``missing`` states why it cannot run on this machine. */
export type TrainingEntry = {
  name: string;
  label: string;
  method: string;
  planner: string;
  suite: string;
  stage: string;
  validation: string;
  test: string;
  stages: string[];
  cannot: string;
  trainer: string;
  missing: string;
  took: Took | null;
  results: Result[];
};

/** A training configuration with its fields and their values. */
export type TrainingFields = {
  name: string;
  seeds: number[];
  fields: TreeField[];
};

/** The content of a training file. */
export type TrainingFile = {
  name: string;
  method: string;
  planner: string;
  suite: string;
  stage: string;
  validation: string;
  test: string;
  stages: string[];
  trainer: Trainer;
  [key: string]: unknown;
};

/** A requested training run: its file, its seeds, its policy, and the names of its files. */
export type TrainingProgress = {
  training: TrainingFile;
  file: string;
  seeds: SeedProgress[];
  policy: Policy | null;
  files: string[];
};

/** A request for a training run, with changed fields by dotted name. */
export type TrainingRequest = {
  training: string;
  changes?: Record<string, unknown>;
  seeds?: number[];
  minutes?: number | null;
  title?: string;
};

/** A field with its current value as the default, and the fields nested in it. */
export type TreeField = {
  name: string;
  type: "number" | "whole" | "yes" | "choice" | "text" | "component" | "other";
  words: string;
  default: unknown;
  required: boolean;
  least: number | null;
  most: number | null;
  above: boolean;
  choices: string[];
  kind: string;
  shape: Shape | null;
  help: string;
  fields: TreeField[];
};

/** A person's current usage, in the units of `agora.web.settings.Quotas`. */
export type Use = {
  runs: number;
  results: number;
  uploads: number;
  upload_size: number;
};

/** A person with an account. */
export type User = {
  name: string;
  role: "look" | "run" | "administer";
  blocked: boolean;
  created: string;
  sessions: number;
  own_quotas: Record<string, number>;
  quotas: Quotas;
  use: Use;
};

/** A change to a user; omitted keys keep their values. */
export type UserChange = {
  role?: "look" | "run" | "administer";
  blocked?: boolean;
  quotas?: Record<string, unknown>;
  [key: string]: unknown;
};

/** A world as drawn by the front end. */
export type World = {
  size: number[];
  resolution: number;
  extent: [number, number, number, number];
  map: Plan;
  zones: WorldZone[];
  colours: Palettes;
  states: [string, string][];
  names: string[];
  name: string;
  origin: "library" | "imported" | "own";
};

/** The drawing of a user's world; ``cells`` is gzipped and base64-encoded, one byte per cell, lowest row first. */
export type WorldDrawing = {
  name: string;
  version: string;
  origin: [number, number];
  resolution: number;
  rows: number;
  columns: number;
  shapes: boolean;
  colours: Palettes;
  cells: string;
  zones: Zone[];
  furniture: Piece[];
  owner: string;
};

/** A world in the list of all worlds; if the world cannot be read, ``size`` is empty and ``missing`` gives the reason. */
export type WorldEntry = {
  name: string;
  origin: "library" | "imported" | "own";
  size: number[];
  missing: string;
  owner: string;
};

/** A request for a generated world. */
export type WorldRequest = {
  generator?: string;
  parameters?: Record<string, unknown>;
  seed?: number;
  name?: string;
  [key: string]: unknown;
};

/** A scenario that belongs to a world. */
export type WorldScenario = {
  problems: ScenarioProblem[];
  sentences: Sentence[];
  name: string;
  world: string;
  version: string;
  content: Record<string, unknown>;
};

/** A zone of a world. */
export type WorldZone = {
  label: string;
  polygon: [number, number][][];
};

/** A zone of a drawing. */
export type Zone = {
  label: string;
  polygon: [number, number][][];
  category: string[];
};

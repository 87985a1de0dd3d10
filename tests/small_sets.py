"""Small data sets made by hand, as functions that write them into a folder and return it."""

from __future__ import annotations

import json

import numpy as np


def small_barn(folder, *, digit="1", path=None):
    """World 4 with walls, one cylinder at row 20, column 3, and a path along row 12."""
    grid = np.zeros((30, 30), int)
    grid[[0, 29]] = 1
    grid[20, 3] = 1
    lines = ["# about", "world 4", *("".join(map(str, row)) for row in grid)]
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "grids.txt").write_text("\n".join(lines).replace("1", digit) + "\n")
    cells = [[12, 0], *([12, c] for c in range(30))] if path is None else path
    (folder / "paths.json").write_text(json.dumps({"4": cells}))
    return folder


def small_dynabarn(folder, **changes):
    content = {
        "obstacle_radius_m": 0.5,
        "arena": [-10, 10, -8, 8],
        "waypoint_format": "[time_s, x_m, y_m]",
        "loop": True,
        "worlds": {
            "challenge_03": {"difficulty": "easy", "obstacles": ["a", "b", "a"]},
            "demo_00": {"difficulty": "hard", "obstacles": []},
        },
        "trajectories": {
            "a": {"length_s": 6.0, "waypoints": [[0, -1, 2], [2, 3, 2], [6, 3, -2]]},
            "b": {"length_s": 4.5, "waypoints": [[0, 0, 0], [4.5, 9, 0]]},
        },
    }
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "worlds.json").write_text(json.dumps(content | changes, indent=1))
    return folder


def small_socnavbench(folder, **recording):
    """A data set of one episode on a crooked map, and pedestrians 3, 5, 6, 9 whose ids have gaps."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "maps").mkdir(exist_ok=True)
    (folder / "pedestrians").mkdir(exist_ok=True)
    (folder / "maps" / "M.pgm").write_bytes(b"P5\n3 2\n255\n" + bytes([254] * 5 + [0]))
    (folder / "maps" / "M.yaml").write_text(
        "image: M.pgm\nresolution: 0.5\norigin: [-1, 2, 0]\noccupied_thresh: 0.65\nfree_thresh: 0.196\nnegate: 0\n"
    )
    rows = [
        (90, 3, 0, 0),
        (130, 3, 4, 0),
        (100, 5, 1, 2),
        (120, 5, 3, 2),
        (40, 6, 0, 0),
        (99, 6, 1, 0),
        (201, 9, 0, 0),
        (300, 9, 1, 1),
    ]
    rows += [(110, 12, 0, 0), (120, 12, 1, 1)]
    (folder / "pedestrians" / "p.csv").write_text("frame,ped,x,y\n" + "".join(f"{f},{i},{x},{y}\n" for f, i, x, y in rows))
    placed = {"knots_file": "pedestrians/p.csv", "fps": 10, "offset": [10, 20, 0], "swapxy": True, "flipxn": True, "flipyn": False}
    segment = {"dataset": "p", "ped_range": [4, -1], "first_ped_id": 5, "last_ped_id_loaded": 6, "start_frame": 100}
    episode = {"name": "t_one", "map": "M", "max_time_s": 10.0, "robot_start": [0, 2.2, 0.3], "robot_goal": [0, 2.4, -1]}
    episode |= {"straight_line_m": 0.2, "n_pedestrians_active": 1, "peak_concurrent": 1, "mean_concurrent": 0.2}
    size = {"file": "maps/M.pgm", "resolution_m": 0.5, "width_m": 1.5, "height_m": 1.0, "origin": [-1, 2], "provenance": "made up"}
    content = {
        "simulator": {"dt_s": 0.05},
        "datasets": {"p": placed | recording},
        "maps": {"M": size},
        "episodes": [episode | {"pedestrians": [segment | {"start_t": 0.0, "n_loaded": 2}]}],
    }
    (folder / "episodes.json").write_text(json.dumps(content, indent=1))
    return folder


def played_socnavbench(folder):
    """A whole data set of two short episodes on a map of 8 x 6 m whose corner is (-3, 2), walled, under a folder for AGORA_DATA.

    In t_one pedestrian 7 stands at (-0.6, 4.2), in the way, 5 walks from (0, 3) upwards at 1 m/s from time 0, and 41 of the second
    recording comes after 0.5 s; in t_two nobody is near but 41, who is gone after 0.4 s.
    """
    root = folder / "socnavbench"
    for part in ("maps", "pedestrians"):
        (root / part).mkdir(parents=True)
    for name in ("univ", "zara01", "zara02"):
        (root / "pedestrians" / f"{name}.csv").write_text("")
    for name in ("Univ", "Zara", "DoubleHotel", "HotelSmall"):
        for kind in ("yaml", "pgm"):
            (root / "maps" / f"{name}.{kind}").write_text("")
    cells = np.full((24, 32), 254, np.uint8)
    cells[0], cells[-1], cells[:, 0], cells[:, -1], cells[2, 5] = 0, 0, 0, 0, 0
    (root / "maps" / "ETH.pgm").write_bytes(b"P5\n32 24\n255\n" + cells.tobytes())
    (root / "maps" / "ETH.yaml").write_text(
        "image: ETH.pgm\nresolution: 0.25\norigin: [-3, 2, 0]\noccupied_thresh: 0.65\nfree_thresh: 0.196\nnegate: 0\n"
    )
    eth = [(100, 5, 1, 0), (140, 5, 1, 4), (100, 7, 1.6, 1.2), (180, 7, 1.6, 1.2), (100, 4, 9, 9), (101, 4, 9, 8)]
    (root / "pedestrians" / "eth.csv").write_text("frame,ped,x,y\n" + "".join(f"{f},{i},{x},{y}\n" for f, i, x, y in eth))
    late = [(40, 41, 3, 5), (44, 41, 2, 5)]
    (root / "pedestrians" / "hotel.csv").write_text("frame,ped,x,y\n" + "".join(f"{f},{i},{x},{y}\n" for f, i, x, y in late))
    placed = {"fps": 10, "swapxy": False, "flipyn": False}
    size = {
        "file": "maps/ETH.pgm",
        "resolution_m": 0.25,
        "width_m": 8.0,
        "height_m": 6.0,
        "origin": [-3, 2],
        "provenance": "made up",
    }
    common = {"map": "M", "straight_line_m": 1.0, "n_pedestrians_active": 1, "peak_concurrent": 1, "mean_concurrent": 0.2}
    first = {"dataset": "p", "ped_range": [4, -1], "first_ped_id": 5, "last_ped_id_loaded": 7, "start_frame": 100, "start_t": 0.0}
    then = {"dataset": "q", "ped_range": [40, -1], "first_ped_id": 41, "last_ped_id_loaded": 41, "start_frame": 40, "n_loaded": 1}
    one = {"name": "t_one", "max_time_s": 6.0, "robot_start": [-2, 4, 0.3], "robot_goal": [0.6, 4.3, -1]}
    two = {"name": "t_two", "max_time_s": 4.0, "robot_start": [3.8, 6.9, -2.5], "robot_goal": [3.1, 7.2, 0.5]}
    content = {
        "simulator": {"dt_s": 0.05},
        "datasets": {
            "p": placed | {"knots_file": "pedestrians/eth.csv", "offset": [1, 3, 0], "flipxn": True},
            "q": placed | {"knots_file": "pedestrians/hotel.csv", "offset": [-3, 1, 0], "flipxn": False},
        },
        "maps": {"M": size},
        "episodes": [
            common | one | {"pedestrians": [first | {"n_loaded": 2}, then | {"start_t": 0.5}]},
            common | two | {"pedestrians": [then | {"start_t": 0.0}]},
        ],
    }
    (root / "episodes.json").write_text(json.dumps(content, indent=1))
    return folder


def crooked_zara(folder):
    """A scene "zara01" of two pedestrians: obsmat is the annotation's metres (x, y) taken to (3 - 0.8 y, 5 + 1.2 x)."""
    place = folder / "zara01"
    place.mkdir(parents=True)
    splines = [[(10, -20, 25), (20, -20, 50), (20, 30, 100)], [(0, 0, 0), (5, 5, 25)]]
    text = [f"{len(splines)} - the number of splines"]
    for points in splines:
        text += [
            f"{len(points)} - Num of control points",
            *(f"{x}.0 {y}.0 {frame} 9.5 - (2D point, m_id)" for x, y, frame in points),
        ]
    (place / "annotation.vsp").write_text("\n".join(text) + "\n")
    np.savetxt(place / "H.txt", np.diag([0.1, 0.2, 1.0]))
    rows = [[f, who, 3 - 0.16 * y, 0, 5 + 0.12 * x, 0, 0, 0] for who, points in enumerate(splines, 1) for x, y, f in points]
    np.savetxt(place / "obsmat.txt", rows)
    (place / "groups.txt").write_text("1 2\n")
    (place / "destinations.txt").write_text("-1.3 -15.66\n")
    lines = "".join(f'<Line x1="{i}" y1="0" x2="{i}" y2="2" thickness="1" />' for i in range(5))
    shapes = f'<Lines>{lines}</Lines><Circle x="1" y="2" radius="0.5"/>'
    (place / "map.xml").write_text(f'<Trial xmlns="https://x">{shapes}</Trial>')
    return folder


ARENA_TIMES = (12.25, 12.75, 13.5, 14.25)


def arena_time(seconds):
    """Return the value of ``secs * 10e9 + nsecs``."""
    return int(seconds) * 10e9 + round(seconds % 1 * 1e9)


def arena_folder(place):
    """Two episodes of a burger, 0.4 m/s eastward, past one pedestrian who leaves; the first ends at its goal."""
    place.mkdir()
    odom, people, marks = ["time,data"], ["time,data"], ["time,episode"]
    for episode in (0, 1):
        for k, t in enumerate(ARENA_TIMES):
            time = arena_time(t + 100 * episode)
            position = [round(0.4 * (t - ARENA_TIMES[0]), 3), 1.5 + episode, 0.0]
            odom.append(f'{time},"{ {"position": position, "velocity": [0.4, 0.0, 0.0]} }"')
            crowd = [
                {"id": "p1", "type": "adult", "social_state": "Walking", "position": [k, 2.5], "theta": 0.3, "destination": [9, 9]}
            ]
            people.append(f'{time},"{crowd if k < 3 else []}"')
            marks.append(f"{time},{episode}")
    (place / "odom.csv").write_text("\n".join(odom) + "\n")
    (place / "pedsim_agents_data.csv").write_text("\n".join(people) + "\n")
    (place / "episode.csv").write_text("\n".join(marks) + "\n")
    (place / "start_goal.csv").write_text('episode,start,goal\n0,"[0, 1.5, 0]","[0.9, 1.5, 0]"\n1,"[0, 2.5, 0]","[7.0, 2.5, 0]"\n')
    (place / "params.yaml").write_text(
        "model: burger\nmap_file: map_empty\nlocal_planner: teb\ninter_planner: polite\nnamespace: /sim/burger\n"
    )
    return place

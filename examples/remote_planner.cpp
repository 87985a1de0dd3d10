// A planner in a process of its own, in C++ alone: it follows the path, and waits for whoever is close in front of it.
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
#include <complex>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <string>
using std::string, std::abs, std::max, std::min, std::to_string;
struct Array { const char *data; size_t rows, columns; };
Array array(const string &message, const string &name) {
  const size_t about = message.find("\"observation." + name + "\":{"), shape = message.find('[', about) + 1;
  const auto number = [&](size_t at) { return std::strtoul(message.data() + at, nullptr, 10); };
  const size_t first = 8 + *(const uint64_t *)message.data() + number(message.find("_offsets\":[", about) + 11);
  return {message.data() + first, number(shape), number(message.find(',', shape) + 1)};
}

void send(int line, const string &said, const string &twists = "") {
  const string tensor = to_string(twists.size() / 12) + R"(,3],"data_offsets":[0,)" + to_string(twists.size()) + "]}}";
  const string header = R"({"__metadata__":{"agora":"{\"version\":2,\"format\":\"agora.)" + said + tensor;
  const uint64_t length = header.size();
  const uint32_t size = 8 + length + twists.size();
  const string all = string((const char *)&size, 4) + string((const char *)&length, 8) + header + twists;
  for (size_t sent = 0; sent < all.size();) sent += write(line, all.data() + sent, all.size() - sent);
}

string twist(const string &asked, size_t row) {
  const auto real = [&](const char *name) { return (const float *)array(asked, name).data; };
  const auto [there, rows, slots] = array(asked, "pedestrians.present");
  const float *pose = real("pose") + 3 * row, *people = real("pedestrians.position"), *radius = real("pedestrians.radius");
  const std::complex<double> here(pose[0], pose[1]), frame = std::polar(1.0, -double(pose[2]));
  const auto seen = [&](const float *place) { return (std::complex<double>(place[0], place[1]) - here) * frame; };
  const float *aim = real("path") + 2 * row * array(asked, "path").columns, *point = aim;
  const float *last = aim + 2 * max(((const int32_t *)array(asked, "path_count").data)[row] - 1, 0);
  for (; point <= last; point += 2) aim = abs(seen(point)) < abs(seen(aim)) ? point : aim;
  while (aim < last && abs(seen(aim)) <= 0.6) aim += 2;
  const double bearing = std::arg(seen(aim)), most = real("limits.max_omega")[row], near = real("radius")[row] + 0.5;
  double vx = real("limits.max_vx")[row] * max(std::cos(bearing), 0.0);
  for (size_t q = row * slots; q < (row + 1) * slots; q++)
    if (there[q] && seen(people + 2 * q).real() > 0.0 && abs(seen(people + 2 * q)) < near + radius[q]) vx = 0.0;
  const float said[] = {float(vx), 0.0f, float(max(-most, min(most, 2.0 * bearing)))};
  return string((const char *)said, sizeof said);
}

int main(int, char **words) {
  sockaddr_un address{AF_UNIX, {}};
  string(words[1]).copy(address.sun_path, sizeof address.sun_path - 1);
  int line, door = socket(AF_UNIX, SOCK_STREAM, 0);
  if (unlink(words[1]), bind(door, (sockaddr *)&address, sizeof address) || listen(door, 64)) return std::perror(words[1]), 1;
  std::signal(SIGCHLD, SIG_IGN);
  while ((line = accept(door, nullptr, nullptr)), fork() != 0) close(line);  // a process for each connection
  send(line, R"(hello\",\"content\":{\"needs\":[\"path\",\"pedestrians\"]}}"},"twists":{"dtype":"F32","shape":[)");
  for (uint32_t size; recv(line, &size, 4, MSG_WAITALL) == 4;) {
    string asked(size, 0), twists;
    if (recv(line, asked.data(), size, MSG_WAITALL) != size) return 1;
    for (size_t row = 0; row < array(asked, "pose").rows; row++) twists += twist(asked, row);
    const size_t at = asked.rfind(R"(\"number\":)"), length = asked.find('}', at) - at;  // an answer repeats the question's number
    send(line, R"(answer\",\"content\":{)" + asked.substr(at, length) + R"(,\"twists\":{\"$array\":\"twists\"}}}"},)"
               R"("twists":{"dtype":"F32","shape":[)", twists);
  }
}

// Gazebo model plug-in, which publishes the true pose and velocity of a link and the motor torques
// of joints, and holds simulated time at a limit, so that nodes can keep up.
//
// The plug-in p3d of gazebo_plugins also publishes poses, but has a queue of one message: if the
// thread that writes to the network is late by two sampling periods, which happens on a busy
// machine, a message is lost. This plug-in has a queue of thousands of messages. It samples at the
// same times as Hector's IMU, at multiples of the sampling period, and its twist is in the axes of
// the link, as defined for nav_msgs/Odometry.
//
// The IMU plug-ins also have short queues, ten messages in Hector's and one in the generic plug-in.
// Therefore physics waits while the network thread is late. A subscriber in this process receives a
// message when the network thread processes it, which shows how late this thread is.
//
// Physics also waits at the simulated time that is published on the topic of limits, until a later
// time is published. Pausing physics with a service would be delayed by as much as the calling
// processes have to wait for processor time.

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>

#include <gazebo/common/Events.hh>
#include <gazebo/common/Plugin.hh>
#include <gazebo/physics/physics.hh>
#include <nav_msgs/Odometry.h>
#include <ros/callback_queue.h>
#include <ros/ros.h>
#include <sensor_msgs/JointState.h>
#include <std_msgs/Time.h>

namespace imu_simulation_framework
{
// Queue size; at 100 Hz, a subscriber that hangs loses the first message after 100 s.
constexpr std::uint32_t kQueueSize = 10000;

// Samples by which the network thread may be late. As it processes one topic after another, up to
// twice as many IMU messages plus one may be in the queue.
constexpr std::int64_t kLongestLag = 3;

// Wall-clock time to wait for the network thread per sample.
const ros::WallDuration kLongestWait(1.0);

// Wall-clock time since the last limit after which its publisher is assumed to have ended or hang.
const ros::WallDuration kLongestSilence(10.0);

constexpr std::int64_t kNoLimit = std::numeric_limits<std::int64_t>::max();

constexpr std::int64_t kNanoseconds = 1000000000;

class GroundTruth : public gazebo::ModelPlugin
{
public:
  // Parameters: bodyName, topicName, frameName (of the world), updateRate [Hz]; limitTopicName; for
  // torques, torqueTopicName and a jointName for each joint.
  void Load(gazebo::physics::ModelPtr model, sdf::ElementPtr sdf) override
  {
    if (!ros::isInitialized())
    {
      gzerr << "ground truth: gzserver runs without gazebo_ros\n";
      return;
    }
    const auto body = sdf->Get<std::string>("bodyName", "").first;
    link_ = model->GetLink(body);
    if (!link_)
    {
      ROS_FATAL("ground truth: the robot has no link '%s'", body.c_str());
      return;
    }
    const auto rate = sdf->Get<double>("updateRate", 0.0).first;
    if (!(rate > 0.0))
    {
      ROS_FATAL("ground truth: updateRate is %g, expected a number above 0", rate);
      return;
    }
    world_ = model->GetWorld();
    period_ = std::llround(kNanoseconds / rate);
    message_.header.frame_id = sdf->Get<std::string>("frameName", "world").first;
    message_.child_frame_id = body;
    const auto topic = sdf->Get<std::string>("topicName", "ground_truth/state").first;
    node_ = std::make_unique<ros::NodeHandle>(sdf->Get<std::string>("robotNamespace", "").first);
    publisher_ = node_->advertise<nav_msgs::Odometry>(topic, kQueueSize);
    // A separate queue is processed only by this class, in the physics thread.
    auto options = ros::SubscribeOptions::create<nav_msgs::Odometry>(
        topic, 0,
        [this](const nav_msgs::Odometry::ConstPtr& taken) { taken_ = Count(taken->header.stamp); },
        ros::VoidPtr(), &taken_messages_);
    own_subscriber_ = node_->subscribe(options);
    const auto limits = sdf->Get<std::string>("limitTopicName", "simulation_limit").first;
    options = ros::SubscribeOptions::create<std_msgs::Time>(
        limits, 1, [this](const std_msgs::Time::ConstPtr& limit) { OnLimit(limit->data); },
        ros::VoidPtr(), &limits_);
    limit_subscriber_ = node_->subscribe(options);
    if (!LoadJoints(*model, *sdf))
    {
      return;
    }
    connection_ = gazebo::event::Events::ConnectWorldUpdateBegin(
        [this](const gazebo::common::UpdateInfo& info) { OnUpdate(info.simTime); });
  }

private:
  bool LoadJoints(gazebo::physics::Model& model, sdf::Element& sdf)
  {
    auto element = sdf.HasElement("jointName") ? sdf.GetElement("jointName") : nullptr;
    for (; element; element = element->GetNextElement("jointName"))
    {
      const auto name = element->Get<std::string>();
      const auto joint = model.GetJoint(name);
      if (!joint)
      {
        ROS_FATAL("ground truth: the robot has no joint '%s'", name.c_str());
        return false;
      }
      joints_.push_back(joint);
      torques_.name.push_back(name);
    }
    torques_.effort.assign(joints_.size(), 0.0);
    if (!joints_.empty())
    {
      const auto topic = sdf.Get<std::string>("torqueTopicName", "ground_truth/wheel_torques").first;
      torque_publisher_ = node_->advertise<sensor_msgs::JointState>(topic, kQueueSize);
    }
    return true;
  }

  // Adds the torques of the last step, for the mean since the previous sample. The velocity motor
  // of a joint is a constraint, whose torque is part of the constraint torque of the joint.
  void AddTorques()
  {
    for (std::size_t i = 0; i < joints_.size(); ++i)
    {
      const auto axis = joints_[i]->LocalAxis(0);
      // According to its sign, this is the torque of the child on the joint.
      torques_.effort[i] -= joints_[i]->GetForceTorque(0).body2Torque.Dot(axis);
    }
    ++steps_;
  }

  void PublishTorques()
  {
    if (weighed_ && steps_ > 0)
    {
      torques_.header.stamp = message_.header.stamp;
      for (auto& torque : torques_.effort)
      {
        torque /= steps_;
      }
      torque_publisher_.publish(torques_);
    }
    torques_.effort.assign(joints_.size(), 0.0);
    steps_ = 0;
    const bool wanted = !joints_.empty() && torque_publisher_.getNumSubscribers() > 0;
    if (wanted && !weighed_)
    {
      for (const auto& joint : joints_)
      {
        joint->SetProvideFeedback(true);
      }
    }
    weighed_ = wanted;
  }

  void OnUpdate(const gazebo::common::Time& now)
  {
    const auto step = std::llround(kNanoseconds * world_->Physics()->GetMaxStepSize());
    const auto time = Count(now);
    WaitForNodes(time);
    if (weighed_)
    {
      AddTorques();
    }
    if ((time + step / 2) % period_ >= step)
    {
      return;
    }
    WaitForNetwork(time);
    message_.header.stamp.sec = now.sec;
    message_.header.stamp.nsec = now.nsec;
    const auto pose = link_->WorldPose();
    message_.pose.pose.position.x = pose.Pos().X();
    message_.pose.pose.position.y = pose.Pos().Y();
    message_.pose.pose.position.z = pose.Pos().Z();
    message_.pose.pose.orientation.x = pose.Rot().X();
    message_.pose.pose.orientation.y = pose.Rot().Y();
    message_.pose.pose.orientation.z = pose.Rot().Z();
    message_.pose.pose.orientation.w = pose.Rot().W();
    Fill(message_.twist.twist.linear, link_->RelativeLinearVel());
    Fill(message_.twist.twist.angular, link_->RelativeAngularVel());
    publisher_.publish(message_);
    PublishTorques();
  }

  void OnLimit(const ros::Time& limit)
  {
    limit_ = limit == ros::TIME_MAX ? kNoLimit : Count(limit);
    heard_ = ros::WallTime::now();
    if (limit_ == kNoLimit && held_ > ros::WallDuration(0.0))
    {
      ROS_INFO("Gazebo waited for the nodes for %.1f s in total", held_.toSec());
      held_ = ros::WallDuration(0.0);
    }
  }

  void WaitForNodes(std::int64_t now)
  {
    limits_.callAvailable();
    if (now <= limit_)
    {
      return;
    }
    const auto begun = ros::WallTime::now();
    while (now > limit_ && ros::ok())
    {
      const auto left = kLongestSilence - (ros::WallTime::now() - heard_);
      if (left <= ros::WallDuration(0.0))
      {
        ROS_WARN("Gazebo no longer waits: no limit of simulated time was published for %.0f s",
                 kLongestSilence.toSec());
        limit_ = kNoLimit;
        break;
      }
      limits_.callAvailable(left);
    }
    held_ += ros::WallTime::now() - begun;
  }

  void WaitForNetwork(std::int64_t now)
  {
    taken_messages_.callAvailable();
    const auto end = ros::WallTime::now() + kLongestWait;
    while (now - taken_ > kLongestLag * period_ && ros::ok())
    {
      const auto left = end - ros::WallTime::now();
      if (left <= ros::WallDuration(0.0))
      {
        taken_ = now;
        return;
      }
      taken_messages_.callAvailable(left);
    }
  }

  template <class Time>
  static std::int64_t Count(const Time& time)
  {
    return kNanoseconds * time.sec + time.nsec;
  }

  static void Fill(geometry_msgs::Vector3& vector, const ignition::math::Vector3d& values)
  {
    vector.x = values.X();
    vector.y = values.Y();
    vector.z = values.Z();
  }

  gazebo::physics::WorldPtr world_;
  gazebo::physics::LinkPtr link_;
  std::int64_t period_ = 0;
  std::unique_ptr<ros::NodeHandle> node_;
  ros::Publisher publisher_;
  nav_msgs::Odometry message_;
  gazebo::physics::Joint_V joints_;
  ros::Publisher torque_publisher_;
  sensor_msgs::JointState torques_;
  // Whether the torques have subscribers, and the number of steps over which they are summed.
  bool weighed_ = false;
  int steps_ = 0;
  // Stamp of the newest message processed by the network thread; initially there is no wait.
  std::int64_t taken_ = std::numeric_limits<std::int64_t>::max() / 2;
  // Simulated time at which physics waits [ns], when it was received, and total waiting time.
  std::int64_t limit_ = kNoLimit;
  ros::WallTime heard_;
  ros::WallDuration held_;
  // Members are destroyed in reverse order: a member that uses another must be declared after it.
  ros::CallbackQueue taken_messages_;
  ros::Subscriber own_subscriber_;
  ros::CallbackQueue limits_;
  ros::Subscriber limit_subscriber_;
  gazebo::event::ConnectionPtr connection_;
};

GZ_REGISTER_MODEL_PLUGIN(GroundTruth)
}  // namespace imu_simulation_framework
